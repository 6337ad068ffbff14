import { type Address, encodeAbiParameters, type Hex, keccak256, stringToHex } from "viem"

/** The domain of a contract for which typed data is signed (https://eips.ethereum.org/EIPS/eip-712). */
export interface TypedDomain {
  readonly name: string
  readonly version: string
  readonly chainId: bigint
  readonly verifyingContract: Address
}

const TYPE_HASH = keccak256(
  stringToHex("EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)")
)
const BYTES32 = { type: "bytes32" } as const
const PARAMETERS = [BYTES32, BYTES32, BYTES32, { type: "uint256" }, { type: "address" }] as const

/**
 * Returns the hash of a domain (EIP-712, "Definition of domainSeparator"), as DOMAIN_SEPARATOR of its contract
 * returns it.
 */
export const domainSeparator = (domain: TypedDomain): Hex =>
  keccak256(
    encodeAbiParameters(PARAMETERS, [
      TYPE_HASH,
      keccak256(stringToHex(domain.name)),
      keccak256(stringToHex(domain.version)),
      domain.chainId,
      domain.verifyingContract
    ])
  )
