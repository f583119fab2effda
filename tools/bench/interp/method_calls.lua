-- method_calls: methods of two classes from one call site, one of them through super.
-- SPDX-License-Identifier: MIT
local Account = {}
Account.__index = Account

function Account.new(balance) return setmetatable({ balance = balance }, Account) end
function Account:add(amount) self.balance = self.balance + amount end
function Account:total() return self.balance end

local Charged = setmetatable({}, { __index = Account })
Charged.__index = Charged

function Charged.new(balance, fee)
  local self = setmetatable(Account.new(balance), Charged)
  self.fee = fee
  return self
end
function Charged:add(amount) Account.add(self, amount - self.fee) end

local function run(turns)
  local here = Account.new(0)
  local there = Charged.new(0, 2)
  local richer = 0
  for _ = 0, turns - 1 do
    here:add(1)
    if here:total() > there:total() then richer = richer + 1 end
    here, there = there, here
  end
  return richer
end

local start = os.clock()
local result = run(800000)
local elapsed = os.clock() - start
print(result)
print(elapsed * 1000)
