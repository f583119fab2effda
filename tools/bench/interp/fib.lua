-- fib: calls of a two-way recursive function.  SPDX-License-Identifier: MIT
local function fib(n)
  if n < 2 then return n end
  return fib(n - 1) + fib(n - 2)
end

local start = os.clock()
local result = fib(32)
local elapsed = os.clock() - start
print(result - 2000000)
print(elapsed * 1000)
