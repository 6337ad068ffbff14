import { boundNonce, NONCE_TAG } from "@agentos/x402"
import type { ClientEvmSigner } from "@x402/evm"
import { ExactEvmScheme } from "@x402/evm/exact/client"

/**
 * The standard scheme `exact`, with the authorization's nonce bound to the challenge if the challenge supports that
 * (`extra.nonceTag`). An intercepted payment cannot be used with another challenge.
 */
export class BoundScheme extends ExactEvmScheme {
  readonly #signer: ClientEvmSigner

  constructor(signer: ClientEvmSigner) {
    super(signer)
    this.#signer = signer
  }

  override async createPaymentPayload(...args: Parameters<ExactEvmScheme["createPaymentPayload"]>) {
    const { assetTransferMethod, binding, nonceTag } = args[1].extra
    if (nonceTag !== NONCE_TAG || typeof binding !== "string") return super.createPaymentPayload(...args)
    const bound = boundNonce(binding)
    // Permit2's nonces are numbers, which the payload has in decimal.
    const isPermit2 = assetTransferMethod === "permit2"
    const nonce = isPermit2 ? BigInt(bound) : bound
    const signer: ClientEvmSigner = {
      ...this.#signer,
      // The permit that may come with a payment has a nonce of its own.
      signTypedData: (typed) =>
        this.#signer.signTypedData(
          typed.primaryType === "Permit" ? typed : { ...typed, message: { ...typed.message, nonce } }
        )
    }
    const created = await new ExactEvmScheme(signer).createPaymentPayload(...args)
    const field = isPermit2 ? "permit2Authorization" : "authorization"
    const authorization = { ...Object(created.payload[field]), nonce: String(nonce) }
    return { ...created, payload: { ...created.payload, [field]: authorization } }
  }
}
