import FuzzDriver

runFuzzer { fuzzMovie($0, $1) }
