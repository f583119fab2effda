-- for: counted loops, one inside the other.  SPDX-License-Identifier: MIT
local function run(rows, columns)
  local x = 0
  for i = 0, rows - 1 do
    for j = 0, columns - 1 do
      x = i + j - x
    end
  end
  return x
end

local start = os.clock()
local result = run(4000, 3001)
local elapsed = os.clock() - start
print(result)
print(elapsed * 1000)
