import type { ProviderError } from "@agentos/core"
import { Effect } from "effect"
import { type Hex, maxUint256, parseAbi } from "viem"
import { readContract } from "viem/actions"
import type { EvmChain } from "../../chain/EvmChain.ts"
import { sponsoredExtra } from "../../header/GasSponsoring.ts"
import { PERMIT2, PERMIT2_PROXY } from "../../network/Permit2Address.ts"
import { misconfigured, type OfferedNetwork } from "../../network/PaymentNetwork.ts"
import { signer } from "../../network/Signer.ts"
import { MULTICALL3 } from "../../network/SimulatedCall.ts"
import { domainSeparator, EMPTY_SEPARATOR } from "../../network/TypedDomain.ts"
import { domainCheck, domainOf } from "../TokenDomain.ts"
import type { TransferMethod } from "../TransferMethod.ts"
import * as AllowanceApproval from "./AllowanceApproval.ts"
import { approvalData } from "./AllowanceApproval.ts"
import * as AllowancePermit from "./AllowancePermit.ts"
import * as PermitSettlement from "./PermitSettlement.ts"
import { digest, permit2Separator, WITNESS_TYPE_HASH } from "./PermitTransfer.ts"
import * as PermitUse from "./PermitUse.ts"
import { simulate } from "./TransferSimulation.ts"

const tokenAbi = parseAbi(["function allowance(address owner, address spender) view returns (uint256)"])

/** The transaction that allows Permit2 to move a wallet's tokens. */
const APPROVE = approvalData(maxUint256)

/**
 * The transfer method `permit2`: Permit2 moves the tokens of a payer who allowed it to, once, by a signature over x402's proxy as
 * the spender and the recipient as its witness. It works with every ERC-20 token.
 */
export const make = (offered: OfferedNetwork, chain: EvmChain): TransferMethod => {
  const { asset, chainId, config } = offered
  const separator = permit2Separator(chainId)
  const parts = { offered, chain, uses: PermitUse.make(chain) }
  const tokenSeparator = domainSeparator(domainOf(offered))
  const readAllowance = (wallet: Hex) =>
    chain.ask((client) =>
      readContract(client, { address: asset, abi: tokenAbi, functionName: "allowance", args: [wallet, PERMIT2] })
    )

  return {
    name: "permit2",
    extra: {
      name: config.name,
      ...sponsoredExtra(config),
      assetTransferMethod: "permit2",
      primaryType: "PermitWitnessTransferFrom"
    },
    digest: (transfer) => digest(separator, asset, transfer),
    // Permit2's name is ASCII.
    garbledDigest: () => undefined,
    bareDigest: (transfer) => digest(EMPTY_SEPARATOR, asset, transfer),
    // The proxy takes the signature as bytes.
    findFormFlaw: () => undefined,
    payloadOf: ({ from, nonce, to, validAfter, validBefore, value }, signature) => ({
      signature,
      permit2Authorization: {
        from,
        permitted: { token: asset, amount: value.toString() },
        spender: PERMIT2_PROXY,
        nonce: BigInt(nonce).toString(),
        deadline: validBefore.toString(),
        witness: { to, validAfter: validAfter.toString() }
      }
    }),
    readAllowance: (wallet) =>
      Effect.all(
        {
          allowance: readAllowance(wallet),
          ...(config.gasSponsoring === "eip2612" && { permitNonce: AllowancePermit.readNonce(chain, wallet) })
        },
        { concurrency: 2 }
      ),
    findMissingApproval: (wallet, amount) =>
      Effect.map(readAllowance(wallet), (allowance) =>
        allowance < amount ? { to: asset, data: APPROVE, allowance } : undefined
      ),
    findAllowanceFlaw: (brought, transfer) =>
      Effect.flatMap(signer, (processSigner) => {
        const checking = { chain, offered, separator: tokenSeparator, signer: processSigner }
        return brought.kind === "eip2612"
          ? AllowancePermit.findFlaw(checking, brought, transfer)
          : AllowanceApproval.findFlaw(checking, brought, transfer)
      }),
    simulate: (transfer, signature, brought) => simulate(chain, asset, transfer, signature, brought),
    isUsed: parts.uses.isUsed,
    findSettlement: (query) => PermitSettlement.findSettlement(parts, query),
    findPayment: (query) => PermitSettlement.findPayment(parts, query),
    findOwnTransfer: (query) => PermitSettlement.findOwnTransfer(parts, query),
    check: Effect.andThen(contractCheck(offered, chain, separator), sponsoringCheck(offered, chain, tokenSeparator))
  }
}

/** Checks that the token and the node have what the allowances require that payers may bring. */
const sponsoringCheck = (
  offered: OfferedNetwork,
  chain: EvmChain,
  separator: Hex
): Effect.Effect<void, ProviderError> => {
  const { gasSponsoring } = offered.config
  if (gasSponsoring === undefined) return Effect.void
  return gasSponsoring === "eip2612"
    ? Effect.andThen(domainCheck(offered, chain, separator), AllowancePermit.check(offered, chain))
    : AllowanceApproval.check(offered, chain)
}

const permit2Abi = parseAbi(["function DOMAIN_SEPARATOR() view returns (bytes32)"])
const proxyAbi = parseAbi([
  "function PERMIT2() view returns (address)",
  "function WITNESS_TYPEHASH() view returns (bytes32)"
])

/** Checks that the chain has Permit2, x402's proxy to it, and Multicall3, which simulates transfers. */
const contractCheck = Effect.fnUntraced(function* (
  { config }: OfferedNetwork,
  chain: EvmChain,
  separator: Hex
): Effect.fn.Return<void, ProviderError> {
  const required = (answer: Effect.Effect<boolean, ProviderError>, what: string) =>
    answer.pipe(
      Effect.catchIf(
        (error) => error.reason === "Misconfigured",
        () => Effect.succeed(false)
      ),
      Effect.filterOrFail(
        (isThere) => isThere,
        () =>
          misconfigured(
            `Payment network ${config.network}: transferMethod permit2 requires ${what}, which the chain lacks, or the node denies access.`
          )
      )
    )
  const read = (name: "PERMIT2" | "WITNESS_TYPEHASH") =>
    chain.ask((client) => readContract(client, { address: PERMIT2_PROXY, abi: proxyAbi, functionName: name }))
  yield* required(
    Effect.map(
      chain.ask((client) =>
        readContract(client, { address: PERMIT2, abi: permit2Abi, functionName: "DOMAIN_SEPARATOR" })
      ),
      (found) => found === separator
    ),
    `Permit2 at ${PERMIT2}`
  )
  yield* required(
    Effect.zipWith(
      read("PERMIT2"),
      read("WITNESS_TYPEHASH"),
      (permit2, witness) => permit2.toLowerCase() === PERMIT2.toLowerCase() && witness === WITNESS_TYPE_HASH
    ),
    `x402's proxy of Permit2 at ${PERMIT2_PROXY}`
  )
  yield* required(chain.hasCode(MULTICALL3), `Multicall3 at ${MULTICALL3}`)
})
