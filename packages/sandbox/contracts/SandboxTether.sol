// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

/// @title The sandbox's stand-in for USDT on Ethereum
/// @notice A token with 6 decimals, which moves only by `transfer` and `transferFrom`. It exists only on the sandbox's
/// second chain and has no value.
/// @dev Has what sets Ethereum's USDT apart from ERC-20: no return values; an allowance changes only from or to zero; a
/// fee, 0 at first, which the recipient bears; a blacklist, which binds senders but not recipients; reverts without a
/// reason. An amount above the balance or the allowance uses up all gas, as an assertion of old compilers does.
contract SandboxTether {
    string public constant name = "Tether USD";
    string public constant symbol = "USDT";
    uint8 public constant decimals = 6;

    address public immutable owner;
    uint256 public totalSupply;
    mapping(address account => uint256) public balanceOf;
    mapping(address owner => mapping(address spender => uint256)) public allowance;
    mapping(address account => bool) public isBlackListed;

    /// The fee in ten-thousandths of the amount, and the largest one in base units.
    uint256 public basisPointsRate;
    uint256 public maximumFee;

    event Transfer(address indexed from, address indexed to, uint256 value);
    event Approval(address indexed owner, address indexed spender, uint256 value);
    event Params(uint256 feeBasisPoints, uint256 maxFee);
    event AddedBlackList(address user);
    event RemovedBlackList(address user);

    modifier onlyOwner() {
        require(msg.sender == owner);
        _;
    }

    constructor() {
        owner = msg.sender;
    }

    /// @notice Creates tokens.
    function mint(address to, uint256 value) external onlyOwner {
        totalSupply += value;
        balanceOf[to] += value;
        emit Transfer(address(0), to, value);
    }

    /// @notice Sets the fee: below 20 ten-thousandths, and below 50 whole tokens.
    function setParams(uint256 feeBasisPoints, uint256 maxFeeTokens) external onlyOwner {
        require(feeBasisPoints < 20 && maxFeeTokens < 50);
        basisPointsRate = feeBasisPoints;
        maximumFee = maxFeeTokens * 10 ** decimals;
        emit Params(feeBasisPoints, maximumFee);
    }

    function addBlackList(address user) external onlyOwner {
        isBlackListed[user] = true;
        emit AddedBlackList(user);
    }

    function removeBlackList(address user) external onlyOwner {
        isBlackListed[user] = false;
        emit RemovedBlackList(user);
    }

    function transfer(address to, uint256 value) external {
        _move(msg.sender, to, value);
    }

    function approve(address spender, uint256 value) external {
        require(value == 0 || allowance[msg.sender][spender] == 0);
        allowance[msg.sender][spender] = value;
        emit Approval(msg.sender, spender, value);
    }

    function transferFrom(address from, address to, uint256 value) external {
        uint256 allowed = allowance[from][msg.sender];
        if (allowed != type(uint256).max) allowance[from][msg.sender] = _less(allowed, value);
        _move(from, to, value);
    }

    function _move(address from, address to, uint256 value) private {
        require(!isBlackListed[from]);
        uint256 fee = value * basisPointsRate / 10_000;
        if (fee > maximumFee) fee = maximumFee;
        balanceOf[from] = _less(balanceOf[from], value);
        balanceOf[to] += value - fee;
        if (fee > 0) {
            balanceOf[owner] += fee;
            emit Transfer(from, owner, fee);
        }
        emit Transfer(from, to, value - fee);
    }

    function _less(uint256 value, uint256 by) private pure returns (uint256) {
        if (by <= value) return value - by;
        assembly ("memory-safe") {
            invalid()
        }
    }
}
