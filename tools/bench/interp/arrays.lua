-- arrays: the sieve of Eratosthenes, several times over one array.  SPDX-License-Identifier: MIT
local function fill(sieve, size)
  for i = 1, size do sieve[i] = true end
end

local function sift(sieve, size)
  local primes = 0
  for i = 2, size - 1 do
    if sieve[i] then
      primes = primes + 1
      for j = i + i, size - 1, i do sieve[j] = false end
    end
  end
  return primes
end

local function run(size, turns)
  local sieve = {}
  local primes = 0
  for _ = 0, turns - 1 do
    fill(sieve, size)
    primes = primes + sift(sieve, size)
  end
  return primes
end

local start = os.clock()
local result = run(100000, 25)
local elapsed = os.clock() - start
print(result)
print(elapsed * 1000)
