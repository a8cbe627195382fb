#include "CH264Kernels.h"
