import { InMemoryPendingSettlementStore, x402Facilitator } from "@x402/core/facilitator"
import type { SettleResponse, SupportedResponse, VerifyResponse } from "@x402/core/types"
import { ExactEvmScheme } from "@x402/evm/exact/facilitator"
import { type GasWalletOptions, makeGasWallet } from "./GasWallet.ts"
import { type PaymentRequest, authorizationKey, unfitness } from "./PaymentRequest.ts"
import { makeSerialQueue } from "./SerialQueue.ts"

/** An x402 version 2 facilitator for the scheme `exact` with one asset on one chain. */
export interface Facilitator {
  /** Checks a payment against what is required, a trial run of its transfer included. */
  readonly verify: (request: PaymentRequest) => Promise<VerifyResponse>
  /** Checks a payment and carries it out; answers once the chain has confirmed the transfer. */
  readonly settle: (request: PaymentRequest) => Promise<SettleResponse>
  readonly supported: () => SupportedResponse
  /** The height of the chain. Fails with ChainUnreachable. */
  readonly height: () => Promise<bigint>
}

export interface FacilitatorOptions extends GasWalletOptions {
  /** The token's contract. Payments in any other are refused. */
  readonly asset: string
}

/**
 * The chain could not be asked. Nothing is known then: what the library would make of it ("the signature is invalid",
 * "the transaction failed") would be a statement about the payment that nobody has checked.
 */
export class ChainUnreachable extends Error {
  override readonly name = "ChainUnreachable"
}

/**
 * Makes a facilitator over `@x402/evm`, with the library's own checks and reasons. Settlements of different
 * authorizations run side by side. Those of one authorization wait for each other, so that the later one is refused
 * as used and no gas goes into a transfer that must revert.
 */
export const makeFacilitator = (options: FacilitatorOptions): Facilitator => {
  const network = `eip155:${options.chainId}` as const
  const terms = { network, asset: options.asset }
  const wallet = makeGasWallet(options)
  const pendingSettlementStore = new InMemoryPendingSettlementStore()
  const settlements = makeSerialQueue()

  const library = (onOutage: (error: unknown) => void) =>
    new x402Facilitator().register(network, new ExactEvmScheme(wallet.signer(onOutage), { pendingSettlementStore }))

  const height = async () => {
    try {
      return await wallet.reach()
    } catch (cause) {
      throw new ChainUnreachable("The chain can't be reached", { cause })
    }
  }

  /** Lets the library answer, and takes its answer only where the chain stood behind it. */
  const ask = async <A>(question: (facilitator: x402Facilitator) => Promise<A>, stands: (answer: A) => boolean) => {
    let outage: unknown
    await height()
    const answer = await question(library((error) => (outage ??= error)))
    if (outage !== undefined && !stands(answer)) {
      throw new ChainUnreachable("The chain was lost on the way", { cause: outage })
    }
    return answer
  }

  return {
    verify: async (request) => {
      const invalidReason = unfitness(request, terms)
      if (invalidReason !== undefined) return { isValid: false, invalidReason }
      return ask(
        (facilitator) => facilitator.verify(request.paymentPayload, request.paymentRequirements),
        (answer) => answer.isValid
      )
    },
    settle: async (request) => {
      const errorReason = unfitness(request, terms)
      if (errorReason !== undefined) return { success: false, errorReason, transaction: "", network }
      return settlements.run(authorizationKey(request), () =>
        ask(
          (facilitator) => facilitator.settle(request.paymentPayload, request.paymentRequirements),
          // An answer that names a transaction, such as a pending one, says more than that the chain was lost.
          (answer) => answer.success || answer.transaction !== ""
        )
      )
    },
    supported: () => library(() => undefined).getSupported() as SupportedResponse,
    height
  }
}
