import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { Keyring, type PaymentRail, type PaymentTerms, RequestBinding } from "@agentos/core"
import { KeyringNode } from "@agentos/keyring-node"
import { assert, layer } from "@effect/vitest"
import { wrapAxiosWithPayment, x402Client as AxiosClient } from "@x402/axios"
import { decodePaymentResponseHeader } from "@x402/core/http"
import { ExactEvmScheme } from "@x402/evm/exact/client"
import { wrapFetchWithPayment, x402Client as FetchClient } from "@x402/fetch"
import axios from "axios"
import { Effect, Layer, Redacted } from "effect"
import { privateKeyToAccount } from "viem/accounts"
import { PaymentRig, price } from "./PaymentRig.ts"

const keyring = KeyringNode.layer({
  activeKeyId: 7,
  keys: [{ id: 7, secret: Redacted.make("a secret of the test, of more than 32 bytes") }]
})

const bindingOf = (path: string): RequestBinding.RequestBinding => ({
  tenantId: null,
  method: "POST",
  path,
  query: "",
  bodyHash: "0".repeat(64)
})

/** Handles a request to a small server: returns a challenge bound to it, or the receipt of its payment. */
const handle = Effect.fnUntraced(function* (rail: PaymentRail["Service"], path: string, header: string | undefined) {
  const resource = { url: `http://localhost${path}`, description: "A mailbox" }
  const challenge = (error?: string) =>
    Effect.map(
      Effect.forEach(rail.terms(price), (terms) => RequestBinding.bind(bindingOf(path), terms)),
      (accepts) => ({
        status: 402,
        header: { "PAYMENT-REQUIRED": rail.encodeChallenge({ error, resource, accepts, extensions: {} }) }
      })
    )
  if (header === undefined) return yield* challenge()
  const proof = yield* rail.decodeProof(header)
  const terms: PaymentTerms = yield* RequestBinding.rebuild(bindingOf(path), rail.terms(price), proof.accepted)
  yield* rail.authenticate(proof)
  yield* rail.verify(proof, terms)
  const { block } = yield* rail.readNonce(proof)
  const answer = yield* rail.settle(proof, terms)
  const found = yield* rail.findSettlement(
    proof,
    terms,
    block,
    answer._tag === "Accepted" ? answer.transaction : undefined
  )
  if (found._tag !== "Paid") return yield* challenge(found._tag)
  const { amount, network } = terms
  const receipt = rail.encodeReceipt({
    network,
    amount,
    transaction: found.transaction,
    payer: proof.payer,
    isRefunded: false,
    extensions: {}
  })
  return { status: 201, header: { "PAYMENT-RESPONSE": receipt } }
})

/** Starts the small server; stops it when the scope closes. */
const served = Effect.gen(function* () {
  const rail = yield* (yield* PaymentRig).railOf()
  const run = Effect.runPromiseWith(yield* Effect.context<Keyring>())
  const server = createServer((request, response) => {
    const signature = request.headers["payment-signature"]
    const header = typeof signature === "string" ? signature : undefined
    const answer = run(handle(rail, request.url ?? "", header))
    void answer.then(
      (done) => response.writeHead(done.status, done.header).end("{}"),
      (error) => response.writeHead(500).end(String(error))
    )
  })
  return yield* Effect.acquireRelease(
    Effect.promise(
      () =>
        new Promise<string>((resolve) => {
          server.listen(0, "127.0.0.1", () => resolve(`http://127.0.0.1:${(server.address() as AddressInfo).port}`))
        })
    ),
    () =>
      Effect.sync(() => {
        server.close()
        server.closeAllConnections()
      })
  )
})

layer(Layer.merge(PaymentRig.layer, keyring), { excludeTestServices: true, timeout: 60_000 })(
  "A stock client",
  (it) => {
    it.effect("pays a bound challenge by @x402/fetch", () =>
      Effect.gen(function* () {
        const { chain } = yield* PaymentRig
        const url = yield* served
        const signer = privateKeyToAccount(chain.wallets[0]!.privateKey)
        const client = new FetchClient().register("eip155:*", new ExactEvmScheme(signer))
        const paying = wrapFetchWithPayment(fetch, client)
        const post = { method: "POST", body: "{}" }
        // The client refuses an unknown asset unless it is configured.
        yield* Effect.flip(Effect.tryPromise(() => paying(`${url}/mailboxes`, post)))
        client.setSpendControls({
          allowedAssets: [{ network: chain.network, asset: chain.asset, maxAmountPerPayment: price.toString() }]
        })
        const response = yield* Effect.promise(() => paying(`${url}/mailboxes`, post))
        assert.strictEqual(response.status, 201, yield* Effect.promise(() => response.text()))
        assert.strictEqual(receiptOf(response.headers.get("payment-response")).payer, signer.address.toLowerCase())
      })
    )

    it.effect("pays a bound challenge by @x402/axios", () =>
      Effect.gen(function* () {
        const { chain } = yield* PaymentRig
        const url = yield* served
        const signer = privateKeyToAccount(chain.wallets[1]!.privateKey)
        const client = new AxiosClient().register("eip155:*", new ExactEvmScheme(signer))
        const paying = wrapAxiosWithPayment(axios.create(), client)
        const response = yield* Effect.promise(() => paying.post(`${url}/mailboxes`, {}))
        assert.strictEqual(response.status, 201)
        const receipt = receiptOf(String(response.headers["payment-response"]))
        assert.strictEqual(receipt.payer, signer.address.toLowerCase())
        assert.strictEqual(receipt.amount, price.toString())
      })
    )
  }
)

const receiptOf = (header: string | null) => {
  const receipt = decodePaymentResponseHeader(header ?? "")
  assert.isTrue(receipt.success)
  assert.match(receipt.transaction, /^0x[0-9a-f]{64}$/)
  return receipt
}
