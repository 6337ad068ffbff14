// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

/// @title The sandbox's smart account
/// @notice A contract that holds tokens and signs by its owner's key (ERC-1271). The owner can be replaced.
/// It exists only on the sandbox chain.
contract SandboxAccount {
    bytes4 private constant MAGIC = 0x1626ba7e;
    /// The first byte of a signature that no other contract reads, so that only the account can verify it.
    bytes1 private constant VERSION = 0x01;

    address public owner;

    event OwnerChanged(address owner);

    constructor(address first) {
        owner = first;
    }

    function setOwner(address next) external {
        require(msg.sender == owner, "SandboxAccount: caller is not the owner");
        owner = next;
        emit OwnerChanged(next);
    }

    /// @notice Accepts the owner's signature of the digest: r, s and v, with or without the version before it.
    function isValidSignature(bytes32 digest, bytes calldata signature) external view returns (bytes4) {
        if (signature.length == 66 && signature[0] == VERSION) return _check(digest, signature[1:]);
        return signature.length == 65 ? _check(digest, signature) : bytes4(0xffffffff);
    }

    function _check(bytes32 digest, bytes calldata signature) private view returns (bytes4) {
        address recovered =
            ecrecover(digest, uint8(signature[64]), bytes32(signature[:32]), bytes32(signature[32:64]));
        return recovered != address(0) && recovered == owner ? MAGIC : bytes4(0xffffffff);
    }
}

/// @title The sandbox's factory of smart accounts
/// @notice Deploys the account of an owner at an address that is known before (ERC-6492).
contract SandboxAccountFactory {
    /// @notice Deploys the account unless it exists, and returns its address.
    function createAccount(address owner, bytes32 salt) external returns (address account) {
        account = accountOf(owner, salt);
        if (account.code.length == 0) new SandboxAccount{salt: salt}(owner);
    }

    /// @notice Returns the address of the account, deployed or not.
    function accountOf(address owner, bytes32 salt) public view returns (address) {
        bytes32 code = keccak256(abi.encodePacked(type(SandboxAccount).creationCode, abi.encode(owner)));
        return address(uint160(uint256(keccak256(abi.encodePacked(hex"ff", address(this), salt, code)))));
    }
}
