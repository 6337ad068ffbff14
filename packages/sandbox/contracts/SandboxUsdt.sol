// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

/// Signature validation of contract wallets (ERC-1271).
interface IERC1271 {
    function isValidSignature(bytes32 digest, bytes calldata signature) external view returns (bytes4);
}

/// @title The sandbox's stand-in for USD₮0
/// @notice An ERC-20 token with 6 decimals. Holders can sign transfers that any account submits (EIP-3009).
/// It exists only on the sandbox chain and has no value.
/// @dev Reverts contain text, not custom errors: a facilitator knows only the ABI of EIP-3009 and reads the reason
/// from the message.
contract SandboxUsdt {
    // Contains U+20AE, as on X Layer. The EIP-712 domain depends on every byte.
    string public constant name = unicode"USD₮0";
    string public constant symbol = unicode"USD₮0";
    string public constant version = "1";
    uint8 public constant decimals = 6;

    bytes32 public constant TRANSFER_WITH_AUTHORIZATION_TYPEHASH = keccak256(
        "TransferWithAuthorization(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce)"
    );
    bytes32 public constant CANCEL_AUTHORIZATION_TYPEHASH =
        keccak256("CancelAuthorization(address authorizer,bytes32 nonce)");

    /// Half of the order of secp256k1. A malleated signature has a higher s and is rejected.
    uint256 private constant HALF_CURVE_ORDER = 0x7FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF5D576E7357A4501DDFE92F46681B20A0;

    address private immutable deployer;
    bytes32 public immutable DOMAIN_SEPARATOR;

    uint256 public totalSupply;
    mapping(address account => uint256) public balanceOf;
    mapping(address owner => mapping(address spender => uint256)) public allowance;

    /// @notice Returns whether an authorization was used or canceled.
    mapping(address authorizer => mapping(bytes32 nonce => bool)) public authorizationState;

    event Transfer(address indexed from, address indexed to, uint256 value);
    event Approval(address indexed owner, address indexed spender, uint256 value);
    event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce);
    event AuthorizationCanceled(address indexed authorizer, bytes32 indexed nonce);

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
        require(msg.sender == deployer, "SandboxUsdt: caller is not the deployer");
        require(to != address(0), "SandboxUsdt: mint to the zero address");
        totalSupply += value;
        balanceOf[to] += value;
        emit Transfer(address(0), to, value);
    }

    function transfer(address to, uint256 value) external returns (bool) {
        _move(msg.sender, to, value);
        return true;
    }

    function approve(address spender, uint256 value) external returns (bool) {
        allowance[msg.sender][spender] = value;
        emit Approval(msg.sender, spender, value);
        return true;
    }

    function transferFrom(address from, address to, uint256 value) external returns (bool) {
        uint256 allowed = allowance[from][msg.sender];
        require(allowed >= value, "SandboxUsdt: transfer exceeds the allowance");
        if (allowed != type(uint256).max) allowance[from][msg.sender] = allowed - value;
        _move(from, to, value);
        return true;
    }

    /// @notice Executes a transfer that the payer signed. Times are in seconds, both bounds exclusive.
    function transferWithAuthorization(
        address from,
        address to,
        uint256 value,
        uint256 validAfter,
        uint256 validBefore,
        bytes32 nonce,
        uint8 v,
        bytes32 r,
        bytes32 s
    ) external {
        transferWithAuthorization(from, to, value, validAfter, validBefore, nonce, abi.encodePacked(r, s, v));
    }

    /// @notice The same with the signature as bytes, which contract wallets require.
    function transferWithAuthorization(
        address from,
        address to,
        uint256 value,
        uint256 validAfter,
        uint256 validBefore,
        bytes32 nonce,
        bytes memory signature
    ) public {
        require(block.timestamp > validAfter, "SandboxUsdt: authorization is not valid yet");
        require(block.timestamp < validBefore, "SandboxUsdt: authorization has expired");
        _consume(
            from,
            nonce,
            keccak256(
                abi.encode(
                    TRANSFER_WITH_AUTHORIZATION_TYPEHASH, from, to, value, validAfter, validBefore, nonce
                )
            ),
            signature
        );
        emit AuthorizationUsed(from, nonce);
        _move(from, to, value);
    }

    /// @notice Cancels an authorization that the authorizer signed for cancellation.
    function cancelAuthorization(address authorizer, bytes32 nonce, uint8 v, bytes32 r, bytes32 s) external {
        cancelAuthorization(authorizer, nonce, abi.encodePacked(r, s, v));
    }

    /// @notice The same with the signature as bytes.
    function cancelAuthorization(address authorizer, bytes32 nonce, bytes memory signature) public {
        _consume(
            authorizer, nonce, keccak256(abi.encode(CANCEL_AUTHORIZATION_TYPEHASH, authorizer, nonce)), signature
        );
        emit AuthorizationCanceled(authorizer, nonce);
    }

    function _consume(address authorizer, bytes32 nonce, bytes32 structHash, bytes memory signature) private {
        require(!authorizationState[authorizer][nonce], "SandboxUsdt: authorization is used or canceled");
        bytes32 digest = keccak256(abi.encodePacked(hex"1901", DOMAIN_SEPARATOR, structHash));
        require(_signed(authorizer, digest, signature), "SandboxUsdt: invalid signature");
        authorizationState[authorizer][nonce] = true;
    }

    function _signed(address signer, bytes32 digest, bytes memory signature) private view returns (bool) {
        if (signer.code.length > 0) {
            (bool answered, bytes memory answer) =
                signer.staticcall(abi.encodeCall(IERC1271.isValidSignature, (digest, signature)));
            return answered && answer.length >= 32
                && abi.decode(answer, (bytes32)) == bytes32(IERC1271.isValidSignature.selector);
        }
        if (signature.length != 65) return false;
        bytes32 r;
        bytes32 s;
        uint8 v;
        assembly ("memory-safe") {
            r := mload(add(signature, 32))
            s := mload(add(signature, 64))
            v := byte(0, mload(add(signature, 96)))
        }
        if (uint256(s) > HALF_CURVE_ORDER) return false;
        address recovered = ecrecover(digest, v, r, s);
        return recovered != address(0) && recovered == signer;
    }

    function _move(address from, address to, uint256 value) private {
        require(to != address(0), "SandboxUsdt: transfer to the zero address");
        require(balanceOf[from] >= value, "SandboxUsdt: transfer exceeds the balance");
        balanceOf[from] -= value;
        balanceOf[to] += value;
        emit Transfer(from, to, value);
    }
}
