import {
  type Answer,
  Core,
  EmailProvider,
  mailboxCreation,
  MailParser,
  noMailParser,
  OfferReceipts,
  OperationStore,
  PaidOperations,
  PaymentRail,
  proofKey,
  RealtimeTokens,
  type PaidRequest,
  type PayError,
  type Refused,
  serviceEntry
} from "@agentos/core"
import { KeyringNode } from "@agentos/node/keyring"
import { Memory } from "@agentos/memory"
import { httpFacilitator, PaymentRailX402 } from "@agentos/x402"
import { assert, layer } from "@effect/vitest"
import { x402Client } from "@x402/core/client"
import { decodePaymentRequiredHeader, encodePaymentSignatureHeader } from "@x402/core/http"
import { ExactEvmScheme } from "@x402/evm/exact/client"
import { Context, Effect, Layer, Option, Redacted, Result } from "effect"
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts"
import { PaymentRig } from "./PaymentRig.ts"
import { recorder, type Seen, type Watch } from "./Recorder.ts"

/** The core over a rail with a watched node and facilitator. */
const coreOver = Effect.fnUntraced(function* (watch: Watch) {
  const rig = yield* PaymentRig
  const network = rig.networkOf({
    rpcUrl: Redacted.make(yield* recorder("node", rig.chain.rpcUrl, watch)),
    facilitator: httpFacilitator({ url: yield* recorder("facilitator", rig.facilitatorUrl, watch) })
  })
  const storage = Memory.layer
  const rail = PaymentRailX402.layer({ networks: [network] })
  const ports = Layer.mergeAll(
    storage,
    rail,
    KeyringNode.layer({
      activeKeyId: 1,
      keys: [{ id: 1, secret: Redacted.make("a secret of the test, of more than 32 bytes") }]
    }),
    Layer.succeed(
      EmailProvider,
      EmailProvider.of({
        name: "none",
        domain: "agents.test",
        send: ({ to }) => Effect.succeed({ accepted: to, rejected: [], response: "250 ok" })
      })
    ),
    Layer.succeed(MailParser, noMailParser),
    Layer.succeed(RealtimeTokens, {
      issue: () => Effect.succeed(Redacted.make("realtime")),
      verify: () => Effect.succeed(Option.none())
    })
  )
  return yield* Layer.build(
    Core.layer.pipe(Layer.provideMerge(OfferReceipts.layer("https://agentos.test")), Layer.provideMerge(ports))
  )
})

const requestFor = (localPart: string): PaidRequest => {
  const entry = serviceEntry("email.mailbox.create")
  return {
    entry,
    tenant: null,
    requestId: "01900000-0000-7000-8000-000000000001",
    resource: { url: `https://agentos.test${entry.path}`, description: entry.purpose },
    extensions: {},
    binding: { tenantId: null, method: "POST", path: entry.path, query: "", bodyHash: localPart },
    idempotencyKey: `key ${localPart}`,
    networks: []
  }
}

layer(PaymentRig.layer, { excludeTestServices: true, timeout: 300_000 })("An authorization that is presented", (it) => {
  /** A purchase by the client of x402, with the requests to the outside. */
  const purchase = Effect.fnUntraced(function* (localPart: string, privateKey: `0x${string}`) {
    const seen: Array<Seen> = []
    const early: Array<string> = []
    let isHeld: () => Promise<boolean> = async () => false
    let marks: ReadonlyArray<string> = []
    const core = yield* coreOver(async (one) => {
      seen.push(one)
      const shows = marks.some((mark) => one.body.toLowerCase().includes(mark))
      if (shows && !(await isHeld())) early.push(`${one.by} ${one.what}`)
    })
    const [operations, rail] = [Context.get(core, OperationStore), Context.get(core, PaymentRail)]
    const [paid, creation] = [Context.get(core, PaidOperations), yield* Effect.provide(mailboxCreation, core)]
    const buy = (header: string): Effect.Effect<Result.Result<Answer, Refused<PayError>>> =>
      Effect.result(paid.pay(creation, requestFor(localPart), header, Effect.succeed({ localPart })))
    const challenge = yield* paid.quote(creation, requestFor(localPart), { localPart })
    const client = new x402Client().register("eip155:*", new ExactEvmScheme(privateKeyToAccount(privateKey)))
    client.setSpendControls(false)
    const payload = yield* Effect.promise(() => client.createPaymentPayload(decodePaymentRequiredHeader(challenge)))
    const header = encodePaymentSignatureHeader(payload)
    const proof = yield* Effect.orDie(rail.decodeProof(header))
    const signature = String(payload.payload["signature"]).slice(2).toLowerCase()
    // Both halves of the signature, which are separate in calldata.
    marks = [signature.slice(0, 64), signature.slice(64, 128)]
    isHeld = async () => {
      const keys = { proof: proofKey(proof), endpoint: "", idempotencyKey: "" }
      const [operation] = await Effect.runPromise(operations.findByKeys(keys))
      return operation !== undefined && operation.state !== "claimed"
    }
    const showing = () => seen.filter(({ body }) => marks.some((mark) => body.toLowerCase().includes(mark)))
    return { attempt: buy(header), seen, early, showing }
  })

  it.effect("reaches neither the node nor the facilitator before its operation is claimed", () =>
    Effect.gen(function* () {
      const { attempt, early, seen, showing } = yield* purchase(
        "claimed-first",
        (yield* PaymentRig).chain.wallets[0]!.privateKey
      )
      assert.isTrue(Result.isSuccess(yield* attempt))
      assert.deepStrictEqual(early, [])
      // The watch works: it saw the simulation at the node and the settlement.
      assert.deepStrictEqual(
        showing().map(({ by, what }) => `${by} ${what}`),
        ["node eth_call", "facilitator /settle"]
      )
      assert.isFalse(seen.some(({ what }) => what === "/verify"))
    })
  )

  it.effect("never leaves the server if the balance of the wallet is too low", () =>
    Effect.gen(function* () {
      const { attempt, showing } = yield* purchase("too-poor", generatePrivateKey())
      const answer = yield* attempt
      assert.strictEqual(Result.isFailure(answer) && answer.failure.error._tag, "PaymentRequired")
      assert.deepStrictEqual(showing(), [])
    })
  )
})
