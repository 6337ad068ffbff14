// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

/// @title The sandbox's stand-in for USDC
/// @notice An ERC-20 token with 6 decimals, whose holders can sign allowances that any account submits (EIP-2612). It
/// exists only on the sandbox's second chain and has no value.
/// @dev USDC also has signed transfers (EIP-3009), for which the sandbox has another token. Reverts contain text.
contract SandboxUsdc {
    string public constant name = "USD Coin";
    string public constant symbol = "USDC";
    string public constant version = "2";
    uint8 public constant decimals = 6;

    bytes32 public constant PERMIT_TYPEHASH =
        keccak256("Permit(address owner,address spender,uint256 value,uint256 nonce,uint256 deadline)");

    /// Half of the order of secp256k1. A malleated signature has a higher s and is rejected.
    uint256 private constant HALF_CURVE_ORDER = 0x7FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF5D576E7357A4501DDFE92F46681B20A0;

    address private immutable deployer;
    bytes32 public immutable DOMAIN_SEPARATOR;

    uint256 public totalSupply;
    mapping(address account => uint256) public balanceOf;
    mapping(address owner => mapping(address spender => uint256)) public allowance;

    /// @notice Returns the nonce of the owner's next permit.
    mapping(address owner => uint256) public nonces;

    event Transfer(address indexed from, address indexed to, uint256 value);
    event Approval(address indexed owner, address indexed spender, uint256 value);

    constructor() {
        deployer = msg.sender;
        DOMAIN_SEPARATOR = keccak256(
            abi.encode(
                keccak256("EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)"),
                keccak256(bytes(name)),
                keccak256(bytes(version)),
                block.chainid,
                address(this)
            )
        );
    }

    /// @notice Creates tokens. Only the deployer can mint.
    function mint(address to, uint256 value) external {
        require(msg.sender == deployer, "SandboxUsdc: caller is not the deployer");
        totalSupply += value;
        balanceOf[to] += value;
        emit Transfer(address(0), to, value);
    }

    function transfer(address to, uint256 value) external returns (bool) {
        _move(msg.sender, to, value);
        return true;
    }

    function approve(address spender, uint256 value) external returns (bool) {
        _allow(msg.sender, spender, value);
        return true;
    }

    function transferFrom(address from, address to, uint256 value) external returns (bool) {
        uint256 allowed = allowance[from][msg.sender];
        require(allowed >= value, "SandboxUsdc: transfer exceeds the allowance");
        if (allowed != type(uint256).max) allowance[from][msg.sender] = allowed - value;
        _move(from, to, value);
        return true;
    }

    /// @notice Sets an allowance that the owner signed.
    function permit(address owner, address spender, uint256 value, uint256 deadline, uint8 v, bytes32 r, bytes32 s)
        external
    {
        require(block.timestamp <= deadline, "SandboxUsdc: permit has expired");
        require(uint256(s) <= HALF_CURVE_ORDER, "SandboxUsdc: invalid signature");
        bytes32 hash = keccak256(abi.encode(PERMIT_TYPEHASH, owner, spender, value, nonces[owner]++, deadline));
        address signer = ecrecover(keccak256(abi.encodePacked(hex"1901", DOMAIN_SEPARATOR, hash)), v, r, s);
        require(signer != address(0) && signer == owner, "SandboxUsdc: invalid signature");
        _allow(owner, spender, value);
    }

    function _allow(address owner, address spender, uint256 value) private {
        allowance[owner][spender] = value;
        emit Approval(owner, spender, value);
    }

    function _move(address from, address to, uint256 value) private {
        require(to != address(0), "SandboxUsdc: transfer to the zero address");
        require(balanceOf[from] >= value, "SandboxUsdc: transfer exceeds the balance");
        balanceOf[from] -= value;
        balanceOf[to] += value;
        emit Transfer(from, to, value);
    }
}
