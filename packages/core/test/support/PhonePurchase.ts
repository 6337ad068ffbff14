import {
  JobRunner,
  PaidServices,
  PhoneNumberStore,
  type PurchaseNumberInput,
  type ServiceId,
  type Tenant,
  TenantStore,
  walletAddress
} from "@agentos/core"
import { Effect, Option, Redacted } from "effect"
import { ADA, failureOf, order, pay } from "./Purchase.ts"

export const WEBHOOK = "https://agent.example/turns"
export const PERSON = "+12125550150"

let nonces = 0

/** Returns a new nonce, so that all payments of a test differ. */
const nextNonce = (): string => (++nonces).toString(16).padStart(4, "0")

export interface PhoneRequest {
  readonly serviceId: ServiceId
  readonly input: unknown
  readonly tenant?: Tenant | null
}

/** A request that can be made unpaid and then paid. Repeating the paid request uses the same payment. */
export const phoneRequest = Effect.fnUntraced(function* ({ input, serviceId, tenant = null }: PhoneRequest) {
  const { use } = Option.getOrThrow(Option.fromUndefinedOr((yield* PaidServices).get(serviceId)))
  const nonce = nextNonce()
  const request = (signature: string | null) =>
    use((service) => {
      const offer = { tenant, signature, key: `key ${nonce}`, body: JSON.stringify(input) }
      // Not decoded: some tests send input that the schema refuses.
      return order(Effect.succeed(service), offer, input as never)
    })
  const unpaid = request(null)
  const challenge = Effect.map(failureOf(unpaid), (error) =>
    error._tag === "PaymentRequired" ? error.challenge : Effect.die(error)
  )
  /** Signs once, and returns a request that can be repeated. */
  const signed = Effect.map(
    Effect.flatMap(challenge, (one) => (typeof one === "string" ? Effect.succeed(one) : one)),
    (one) => request(pay(one, ADA, nonce))
  )
  return { unpaid, signed }
})

/** Pays, and returns the data of the answer. */
export const bought = Effect.fnUntraced(function* (request: PhoneRequest) {
  const { signed } = yield* phoneRequest(request)
  const answer = yield* yield* signed
  return (JSON.parse(Redacted.value(answer.body)) as { readonly data: Record<string, unknown> }).data
})

export const PURCHASE: PurchaseNumberInput = { agentName: "Ada's agent", agentWebhookUrl: WEBHOOK }

/** A number of Ada, and her tenant. */
export const adasNumber = Effect.gen(function* () {
  const data = yield* bought({ serviceId: "phone.number.us.30d", input: PURCHASE })
  const tenant = Option.getOrThrow(yield* (yield* TenantStore).findByWallet(walletAddress(ADA)))
  return { data, tenant, phoneNumberId: String(data["phoneNumberId"]), number: String(data["number"]) }
})

export type AdasNumber = Effect.Success<typeof adasNumber>

export const storedNumber = Effect.fnUntraced(function* ({ tenant }: AdasNumber) {
  const [number] = yield* (yield* PhoneNumberStore).list(tenant.tenantId)
  return number!
})

/** Runs a job once, and returns the number of items it processed. */
export const runJob = (job: string) => Effect.flatMap(JobRunner, ({ runNow }) => runNow(job))
