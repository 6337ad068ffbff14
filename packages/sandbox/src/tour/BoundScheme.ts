import { boundNonce, NONCE_TAG } from "@agentos/x402"
import type { ClientEvmSigner } from "@x402/evm"
import { ExactEvmScheme } from "@x402/evm/exact/client"

/**
 * The stock scheme `exact`, with the authorization's nonce bound to the challenge where the challenge describes how
 * (`extra.nonceTag`). Whoever intercepts the payment can't present it with a challenge of their own.
 */
export class BoundScheme extends ExactEvmScheme {
  readonly #signer: ClientEvmSigner

  constructor(signer: ClientEvmSigner) {
    super(signer)
    this.#signer = signer
  }

  override async createPaymentPayload(...asked: Parameters<ExactEvmScheme["createPaymentPayload"]>) {
    const { binding, nonceTag } = asked[1].extra
    if (nonceTag !== NONCE_TAG || typeof binding !== "string") return super.createPaymentPayload(...asked)
    const nonce = boundNonce(binding)
    const signer: ClientEvmSigner = {
      address: this.#signer.address,
      signTypedData: (typed) => this.#signer.signTypedData({ ...typed, message: { ...typed.message, nonce } })
    }
    const made = await new ExactEvmScheme(signer).createPaymentPayload(...asked)
    const { authorization } = made.payload
    return { ...made, payload: { ...made.payload, authorization: { ...Object(authorization), nonce } } }
  }
}
