import {
  type Answer,
  type CheckError,
  PaidOperations,
  type PaidRequest,
  type PaidService,
  PaidServices,
  type PaymentAdvice,
  type PayError,
  type Refused,
  type ServiceId,
  serviceEntry,
  type Tenant
} from "@agentos/core"
import { Effect, Option, Schema } from "effect"

export type Goods =
  | { readonly kind: "create"; readonly localPart: string }
  | { readonly kind: "send"; readonly mailboxId: string; readonly text: string; readonly sendAt?: string }
  | { readonly kind: "update"; readonly mailboxId: string; readonly displayName: string }
  | { readonly kind: "delete"; readonly mailboxId: string }

/** A signed request that its client can send repeatedly. */
export interface Purchase {
  readonly goods: Goods
  readonly wallet: string
  readonly tenant: Tenant | null
  readonly request: PaidRequest
  /** The PAYMENT-SIGNATURE header. */
  readonly payment: string
  readonly nonce: string
  /** Unix seconds. */
  readonly validBefore: number
  /** Whether another payment uses the same key. Then either may win. */
  contested: boolean
  /** The challenge of the last 402, until it is paid. */
  challenge: string | null
  /** The first successful answer. */
  answer: { readonly body: string; readonly receipt: string } | null
  /** What its status has advised so far. */
  readonly advised: Set<PaymentAdvice>
}

const SERVICE_IDS: Readonly<Record<Goods["kind"], ServiceId>> = {
  create: "email.mailbox.create",
  send: "email.message.send",
  update: "email.mailbox.update",
  delete: "email.mailbox.delete"
}

/** Returns an unpaid request for the goods. */
export const requestFor = (goods: Goods, tenant: Tenant | null, count: number): PaidRequest => {
  const entry = serviceEntry(SERVICE_IDS[goods.kind])
  return {
    entry,
    tenant,
    requestId: `01900000-0000-7000-8000-${count.toString(16).padStart(12, "0")}`,
    resource: { url: `https://agentos.test${entry.path}`, description: entry.purpose },
    extensions: {},
    binding: {
      tenantId: tenant?.tenantId ?? null,
      method: entry.method,
      path: entry.path,
      query: "",
      bodyHash: JSON.stringify(goods)
    },
    idempotencyKey: null,
    networks: []
  }
}

/** The host does not admit the request. */
export class NotAdmitted extends Schema.TaggedError<NotAdmitted>()("NotAdmitted", {}) {}

export type Refusal = Refused<PayError | NotAdmitted>

/** The input of a request for the goods, as JSON. */
const inputOf = (goods: Goods): Schema.Json => {
  switch (goods.kind) {
    case "create":
      return { localPart: goods.localPart }
    case "send":
      return {
        mailboxId: goods.mailboxId,
        to: ["friend@example.com"],
        subject: "Hello",
        text: goods.text,
        ...(goods.sendAt === undefined ? {} : { sendAt: goods.sendAt })
      }
    case "update":
      return { mailboxId: goods.mailboxId, displayName: goods.displayName }
    case "delete":
      return { mailboxId: goods.mailboxId }
  }
}

/** Applies a function to the service that sells the goods, and to its input. */
const withService = Effect.fnUntraced(function* <A, E>(
  goods: Goods,
  apply: <Input, Plan, Receipt>(service: PaidService<Input, Plan, Receipt>, input: Input) => Effect.Effect<A, E>
) {
  const { use } = Option.getOrThrow(Option.fromUndefinedOr((yield* PaidServices).get(SERVICE_IDS[goods.kind])))
  return yield* use((service) =>
    Effect.flatMap(Effect.orDie(Schema.decodeUnknownEffect(service.input)(inputOf(goods))), (input) =>
      apply(service, input)
    )
  )
})

/** Requests the challenge for the goods from the server whose services are provided. */
export const challengeFor = (
  goods: Goods,
  request: PaidRequest
): Effect.Effect<string, CheckError, PaidOperations | PaidServices> =>
  Effect.flatMap(PaidOperations, ({ quote }) => withService(goods, (service, input) => quote(service, request, input)))

/** Sends a paid request to the server whose services are provided, as the HTTP server does. */
export const send = (
  { goods, payment, request }: Pick<Purchase, "goods" | "payment" | "request">,
  isAdmitted = true
): Effect.Effect<Answer, Refusal, PaidOperations | PaidServices> =>
  Effect.flatMap(PaidOperations, ({ pay }) =>
    withService(goods, (service, input) =>
      pay(service, request, payment, isAdmitted ? Effect.succeed(input) : Effect.fail(new NotAdmitted()))
    )
  )
