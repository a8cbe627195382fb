// What `import OSLog` brings is what `import os` brings. The system's store of logs (`OSLogStore`) is not here.

@_exported import os
