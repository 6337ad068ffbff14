import { challengeExtensions, challengeResource, operations } from "@agentos/api"
import {
  Core,
  EmailProvider,
  MailParser,
  noMailParser,
  OfferReceipts,
  PaidOperations,
  type PaidRequest,
  PaymentRail,
  RealtimeTokens,
  RequestBinding,
  serviceEntry,
  Timestamp
} from "@agentos/core"
import { KeyringNode } from "@agentos/node/keyring"
import { Memory } from "@agentos/memory"
import { PaymentRailX402 } from "@agentos/x402"
import { assert, layer } from "@effect/vitest"
import { decodePaymentRequiredHeader, encodePaymentRequiredHeader } from "@x402/core/http"
import { Effect, Layer, Option, Redacted } from "effect"
import { SecondRig, PaymentRig } from "./PaymentRig.ts"

const PUBLIC_URL = "https://agentos.test"
const CAPABILITIES = { email: true, phone: true }

/** The extension that the rail adds. */
const IDENTIFIER = {
  info: { required: false },
  schema: {
    type: "object",
    properties: { required: { type: "boolean" }, id: { type: "string", pattern: "^[a-zA-Z0-9_-]{16,128}$" } },
    required: ["required"]
  }
}

const rail = Layer.unwrap(
  Effect.map(Effect.all([PaymentRig, SecondRig]), (rigs) =>
    PaymentRailX402.layer({ networks: rigs.map((rig) => rig.networkOf()) })
  )
)

const core = Core.layer.pipe(
  Layer.provideMerge(OfferReceipts.layer(PUBLIC_URL)),
  Layer.provideMerge(
    Layer.mergeAll(
      Memory.layer,
      Layer.orDie(rail),
      Layer.orDie(KeyringNode.layer({ activeKeyId: 7, keys: [{ id: 7, secret: Redacted.make("k".repeat(44)) }] })),
      Layer.succeed(
        EmailProvider,
        EmailProvider.of({ name: "none", domain: "agents.test", send: () => Effect.die("no mail is sent") })
      ),
      Layer.succeed(MailParser, noMailParser),
      Layer.succeed(RealtimeTokens, {
        issue: () => Effect.succeed(Redacted.make("realtime")),
        verify: () => Effect.succeed(Option.none())
      })
    )
  )
)

const PAID = operations.flatMap((operation) => {
  const { serviceId } = operation.entry
  return operation.entry.price === null || serviceId === null ? [] : [{ operation, entry: serviceEntry(serviceId) }]
})

layer(core.pipe(Layer.provide(SecondRig.layer)), { excludeTestServices: true, timeout: 300_000 })(
  "A prepared challenge",
  (it) => {
    for (const { entry, operation } of PAID) {
      it.effect(`of ${entry.serviceId} has the bytes that the stock server encodes from its parts`, () =>
        Effect.gen(function* () {
          const [{ challenge }, { offers }] = [yield* PaidOperations, yield* OfferReceipts]
          const offered = (yield* PaymentRail).terms(entry.price ?? 0n)
          assert.lengthOf(offered, 2)
          const resource = challengeResource(operation, PUBLIC_URL)
          const extensions = challengeExtensions(operation, CAPABILITIES)
          const nonces = new Set<unknown>()
          for (const bodyHash of ["aa", "bb", "cc"]) {
            const request: PaidRequest = {
              entry,
              resource,
              extensions,
              binding: { tenantId: null, method: entry.method, path: entry.path, query: "", bodyHash },
              tenant: null,
              requestId: "01900000-0000-7000-8000-000000000001",
              idempotencyKey: null,
              networks: []
            }
            const header = yield* challenge(request)
            const accepts = yield* Effect.forEach(decodePaymentRequiredHeader(header).accepts, (accepted) =>
              // Fails unless the MACs are those of the terms and the request.
              RequestBinding.verifyFresh(request.binding, offered, accepted)
            )
            const issuedAt = Timestamp.Timestamp.make(Number(accepts[0]!.extra["issuedAt"]))
            const parts = {
              x402Version: 2,
              resource: { ...resource, tags: [...(resource.tags ?? [])] },
              accepts: accepts.map((terms) => ({
                scheme: terms.scheme,
                network: terms.network as `${string}:${string}`,
                asset: terms.asset,
                amount: terms.amount.toString(),
                payTo: terms.payTo,
                maxTimeoutSeconds: terms.maxTimeoutSeconds,
                extra: { ...terms.extra }
              })),
              extensions: {
                ...extensions,
                ...offers({ resourceUrl: resource.url, accepts, issuedAt }),
                "payment-identifier": IDENTIFIER
              }
            }
            assert.strictEqual(header, encodePaymentRequiredHeader(parts))
            for (const { extra } of accepts) {
              assert.strictEqual(extra["expiresAt"], issuedAt + RequestBinding.CHALLENGE_LIFETIME)
              nonces.add(extra["challengeNonce"])
            }
          }
          assert.lengthOf(nonces, 3 * offered.length)
        })
      )
    }

    it.effect("offers the networks that the client names, in its order, and all if it names none of them", () =>
      Effect.gen(function* () {
        const { challenge } = yield* PaidOperations
        const { entry, operation } = PAID[0]!
        const offered = (yield* PaymentRail).terms(entry.price ?? 0n).map(({ network }) => network)
        const [first = "", second = ""] = offered
        const networksOf = (networks: ReadonlyArray<string>) =>
          challenge({
            entry,
            resource: challengeResource(operation, PUBLIC_URL),
            extensions: challengeExtensions(operation, CAPABILITIES),
            binding: { tenantId: null, method: entry.method, path: entry.path, query: "", bodyHash: "aa" },
            tenant: null,
            requestId: "01900000-0000-7000-8000-000000000001",
            idempotencyKey: null,
            networks
          }).pipe(Effect.map((header) => decodePaymentRequiredHeader(header).accepts.map(({ network }) => network)))
        assert.deepStrictEqual(yield* networksOf([]), offered)
        assert.deepStrictEqual(yield* networksOf([second]), [second])
        assert.deepStrictEqual(yield* networksOf([second, "eip155:1", first, second]), [second, first])
        assert.deepStrictEqual(yield* networksOf(["eip155:1"]), offered)
      })
    )

    it.effect("exists for each of the eleven paid services", () => Effect.sync(() => assert.lengthOf(PAID, 11)))
  }
)
