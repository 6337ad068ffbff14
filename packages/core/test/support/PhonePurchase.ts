import {
  CallExtension,
  FiveMinuteCall,
  InboundMinutes,
  JobRunner,
  NumberRenewal,
  OneMinuteCall,
  type PaidService,
  PhoneNumberStore,
  type PurchaseNumberInput,
  type Tenant,
  TenantStore,
  UsNumberPurchase,
  walletAddress
} from "@agentos/core"
import { Effect, Option, Redacted } from "effect"
import { ADA, failureOf, order, pay } from "./Purchase.ts"

export const WEBHOOK = "https://agent.example/turns"
export const PERSON = "+12125550150"

const SERVICES = {
  "phone.number.us.30d": UsNumberPurchase,
  "phone.number.renew.30d": NumberRenewal,
  "phone.call.inbound.add.10m": InboundMinutes,
  "phone.call.outbound.1m": OneMinuteCall,
  "phone.call.outbound.5m": FiveMinuteCall,
  "phone.call.extend.1m": CallExtension
} as const

let nonces = 0

/** Returns a new nonce, so that all payments of a test differ. */
const nextNonce = (): string => (++nonces).toString(16).padStart(4, "0")

export interface PhoneRequest {
  readonly serviceId: keyof typeof SERVICES
  readonly input: unknown
  readonly tenant?: Tenant | null
}

/** A request that can be made unpaid and then paid. Repeating the paid request uses the same payment. */
export const phoneRequest = Effect.fnUntraced(function* ({ input, serviceId, tenant = null }: PhoneRequest) {
  // The services differ only in their input, which was checked against the schema of each before it arrives here.
  const service = (yield* SERVICES[serviceId]) as unknown as PaidService<unknown, unknown, unknown>
  const nonce = nextNonce()
  const request = (signature: string | null) =>
    order(service, { tenant, signature, key: `key ${nonce}`, body: JSON.stringify(input) }, input)
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
