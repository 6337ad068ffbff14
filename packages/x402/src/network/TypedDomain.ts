import { type Address, encodeAbiParameters, type Hex, keccak256, stringToHex } from "viem"

/** The domain of a contract for which typed data is signed (https://eips.ethereum.org/EIPS/eip-712). */
export interface TypedDomain {
  readonly name: string
  /** Absent from the domain of a contract without versions, such as Permit2. */
  readonly version?: string
  readonly chainId: bigint
  readonly verifyingContract: Address
}

const typeHash = (version: string): Hex =>
  keccak256(stringToHex(`EIP712Domain(string name,${version}uint256 chainId,address verifyingContract)`))
const TYPE_HASH = typeHash("string version,")
const TYPE_HASH_WITHOUT_VERSION = typeHash("")
const BYTES32 = { type: "bytes32" } as const
const ENDS = [{ type: "uint256" }, { type: "address" }] as const
const PARAMETERS = [BYTES32, BYTES32, BYTES32, ...ENDS] as const
const PARAMETERS_WITHOUT_VERSION = [BYTES32, BYTES32, ...ENDS] as const

/** The hash of a domain without fields. Some signers take typed data without `types.EIP712Domain` for such. */
export const EMPTY_SEPARATOR: Hex = keccak256(keccak256(stringToHex("EIP712Domain()")))

const hashed = (text: string): Hex => keccak256(stringToHex(text))

/**
 * Returns the hash of a domain (EIP-712, "Definition of domainSeparator"), as DOMAIN_SEPARATOR of its contract
 * returns it.
 */
export const domainSeparator = ({ chainId, name, verifyingContract, version }: TypedDomain): Hex =>
  keccak256(
    version === undefined
      ? encodeAbiParameters(PARAMETERS_WITHOUT_VERSION, [
          TYPE_HASH_WITHOUT_VERSION,
          hashed(name),
          chainId,
          verifyingContract
        ])
      : encodeAbiParameters(PARAMETERS, [TYPE_HASH, hashed(name), hashed(version), chainId, verifyingContract])
  )
