import {
  type Answer,
  MailboxCreation,
  MailboxDeletion,
  MailboxUpdate,
  MessageSending,
  PaidOperations,
  type PaidRequest,
  type PaidService,
  type PaymentAdvice,
  type ServiceId,
  serviceEntry,
  type Tenant
} from "@agentos/core"
import { Effect, Option } from "effect"

export type Goods =
  | { readonly kind: "create"; readonly localPart: string }
  | { readonly kind: "send"; readonly mailboxId: string; readonly text: string }
  | { readonly kind: "update"; readonly mailboxId: string; readonly displayName: string }
  | { readonly kind: "delete"; readonly mailboxId: string }

/** A signed request that its client can send repeatedly. */
export interface Purchase {
  readonly goods: Goods
  readonly wallet: string
  readonly tenant: Tenant | null
  readonly request: PaidRequest
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
    paymentSignature: null,
    idempotencyKey: null
  }
}

/** Handles a paid request like the HTTP server: replays the answer of its operation, or executes the request. */
const handle = <Input, Plan, Receipt>(service: PaidService<Input, Plan, Receipt>, request: PaidRequest, input: Input) =>
  Effect.gen(function* () {
    const paid = yield* PaidOperations
    if (request.paymentSignature !== null) {
      const known = yield* paid.replay(request)
      if (Option.isSome(known)) return known.value
    }
    return yield* paid.execute(service, request, input)
  })

type Refusals<A> = A extends Effect.Effect<unknown, infer E, unknown> ? E : never

/** Sends a request for the goods to the server whose services are provided. */
export const send = Effect.fnUntraced(function* (
  goods: Goods,
  request: PaidRequest
): Effect.fn.Return<
  Answer,
  Refusals<ReturnType<typeof handle>>,
  PaidOperations | MailboxCreation | MailboxUpdate | MailboxDeletion | MessageSending
> {
  switch (goods.kind) {
    case "create":
      return yield* handle(yield* MailboxCreation, request, { localPart: goods.localPart })
    case "send": {
      const { mailboxId, text } = goods
      const to = ["friend@example.com"]
      return yield* handle(yield* MessageSending, request, { mailboxId, to, subject: "Hello", text })
    }
    case "update":
      return yield* handle(yield* MailboxUpdate, request, goods)
    case "delete":
      return yield* handle(yield* MailboxDeletion, request, { mailboxId: goods.mailboxId })
  }
})
export type Refusal = Refusals<ReturnType<typeof send>>
