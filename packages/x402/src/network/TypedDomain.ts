import { type Address, concat, type Hex, keccak256, numberToHex, pad, stringToHex } from "viem"

/** The domain of a contract for which typed data is signed (https://eips.ethereum.org/EIPS/eip-712). */
export interface TypedDomain {
  readonly name: string
  /** Absent from the domain of a contract without versions, such as Permit2. */
  readonly version?: string
  readonly chainId: bigint
  readonly verifyingContract: Address
}

/** Returns the hash of a text: of a type, or of a field. */
export const hashOf = (text: string): Hex => keccak256(stringToHex(text))

/** Returns a number as the 32 bytes of its ABI. A coder that reads an ABI takes ten times as long. */
export const wordOf = (value: bigint): Hex => numberToHex(value, { size: 32 })

/** Returns the 32 bytes that are signed for a message, by the hash of its domain, the hash of its type and its fields. */
export const typedDigest = (separator: Hex, typeHash: Hex, fields: ReadonlyArray<Hex>): Hex =>
  keccak256(concat(["0x1901", separator, keccak256(concat([typeHash, ...fields]))]))

const TYPE_HASH = hashOf("EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)")
const TYPE_HASH_WITHOUT_VERSION = hashOf("EIP712Domain(string name,uint256 chainId,address verifyingContract)")

/** The hash of a domain without fields. Some signers take typed data without `types.EIP712Domain` for such. */
export const EMPTY_SEPARATOR: Hex = keccak256(hashOf("EIP712Domain()"))

/**
 * Returns the hash of a domain (EIP-712, "Definition of domainSeparator"), as DOMAIN_SEPARATOR of its contract
 * returns it.
 */
export const domainSeparator = ({ chainId, name, verifyingContract, version }: TypedDomain): Hex =>
  keccak256(
    concat([
      ...(version === undefined
        ? [TYPE_HASH_WITHOUT_VERSION, hashOf(name)]
        : [TYPE_HASH, hashOf(name), hashOf(version)]),
      wordOf(chainId),
      pad(verifyingContract)
    ])
  )
