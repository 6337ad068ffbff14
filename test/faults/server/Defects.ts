import {
  CallStore,
  EmailProvider,
  EventSignal,
  EventStore,
  InboundMailStore,
  MessageStore,
  PaymentRail,
  PhoneNumberStore,
  type ProviderError,
  type Settlement,
  TelephonyProvider,
  Transactor
} from "@agentos/core"
import type { Ports } from "@agentos/server"
import { type Context, Effect, Layer, Option } from "effect"
import { Statement } from "effect/sql"
import { randomBytes, randomUUID } from "node:crypto"

/** A server that is broken in one place: in a port, or in one SQL statement. */
export interface Defect {
  readonly around?: (ports: Ports) => Ports
  readonly rewriting?: Rewriting
}

/** Replaces parts of the statement that contains `statement`. */
export interface Rewriting {
  readonly statement: string
  readonly parts: ReadonlyArray<readonly [part: string, replacement: string]>
}

/** Runs a program whose stores send a rewritten statement. Dies if the statement lacks the parts. */
export const rewriting = <A, E, R>(program: Effect.Effect<A, E, R>, { parts, statement }: Rewriting) =>
  Effect.provideService(program, Statement.CurrentTransformer, (self, sql) => {
    const [text, parameters] = self.compile()
    if (!text.includes(statement)) return Effect.succeed(self)
    if (!parts.every(([part]) => text.includes(part))) {
      return Effect.die(new Error(`the statement to rewrite has changed: ${text}`))
    }
    const rewritten = parts.reduce((sql, [part, replacement]) => sql.replaceAll(part, replacement), text)
    return Effect.succeed(sql.unsafe(rewritten, parameters))
  })

/** The real ports with one of them replaced. */
export const around =
  <Id extends Layer.Success<Ports>, Service>(port: Context.Key<Id, Service>, change: (real: Service) => Service) =>
  (ports: Ports): Ports =>
    // The compiler cannot see that a port of `Ports` needs no other services.
    Layer.effect(port, Effect.map(port, change)).pipe(Layer.provideMerge(ports)) as unknown as Ports

const blockForEver = (): never => {
  let turns = 0
  while (true) turns++
}

/** Uses no processor time. */
const waitForEver = () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0) !== "ok"

const STORED_AFTER_MILLIS = 1_000

/** The line that the server logs when an expiry of events has begun that does not end. */
export const EXPIRY_BEGUN = "an expiry of events has begun"

const LEASE = "limit request.room"
const ACKNOWLEDGEMENT = "not is_named then 'acknowledged'"

export const DEFECTS = {
  "treats a facilitator's timeout as a refusal": {
    around: around(PaymentRail, (rail) => {
      const refused = new Set<string>()
      return PaymentRail.of({
        ...rail,
        settle: (proof, terms) =>
          Effect.map(rail.settle(proof, terms), (answer) => {
            if (answer._tag !== "Unknown") return answer
            refused.add(proof.nonce)
            return { _tag: "Refused", message: answer.message }
          }),
        findSettlement: (proof, ...rest) =>
          refused.has(proof.nonce)
            ? Effect.succeed({ _tag: "Unused", expired: true })
            : rail.findSettlement(proof, ...rest)
      })
    })
  },
  "treats every used nonce as a payment": {
    around: around(PaymentRail, (rail) =>
      PaymentRail.of({
        ...rail,
        findSettlement: (proof, ...rest) =>
          Effect.flatMap(rail.findSettlement(proof, ...rest), (found): Effect.Effect<Settlement, ProviderError> =>
            found._tag !== "UsedOtherwise"
              ? Effect.succeed(found)
              : Effect.map(rail.readNonce(proof), ({ block }) => ({
                  _tag: "Paid" as const,
                  transaction: `0x${"0".repeat(64)}`,
                  block
                }))
          )
      })
    )
  },
  "records a mail as sent without the relay's reply": {
    around: around(EmailProvider, (provider) =>
      EmailProvider.of({
        ...provider,
        send: (mail) =>
          Effect.catch(provider.send(mail), () =>
            Effect.succeed({ accepted: [...mail.to, ...mail.cc, ...mail.bcc], rejected: [], response: "assumed" })
          )
      })
    )
  },
  "refunds under a new nonce each time": {
    around: around(PaymentRail, (rail) =>
      PaymentRail.of({
        ...rail,
        refund: (refund) => rail.refund({ ...refund, nonce: `0x${randomBytes(32).toString("hex")}` })
      })
    )
  },
  "dials again after a lost answer": {
    around: around(TelephonyProvider, (carrier) =>
      TelephonyProvider.of({
        ...carrier,
        place: (call) =>
          Effect.catchIf(
            carrier.place(call),
            ({ reason }) => reason === "Unknown",
            () => carrier.place(call)
          )
      })
    )
  },
  "forgets reserved numbers and granted extensions": {
    around: (ports) =>
      around(CallStore, (store) =>
        CallStore.of({
          ...store,
          extend: (callId, _operationId, seconds) => store.extend(callId, randomUUID(), seconds)
        })
      )(
        around(PhoneNumberStore, (store) =>
          PhoneNumberStore.of({ ...store, reservation: () => Effect.succeed(Option.none()) })
        )(ports)
      )
  },
  "accepts mail before it is stored": {
    around: around(InboundMailStore, (store) =>
      InboundMailStore.of({
        ...store,
        // Outside of the transaction that accepts the mail.
        add: (mails) => Effect.sync(() => void setTimeout(() => Effect.runFork(store.add(mails)), STORED_AFTER_MILLIS))
      })
    )
  },
  "drops automatic replies": {
    around: around(MessageStore, (store) =>
      MessageStore.of({
        ...store,
        insert: (messages) => store.insert(messages.filter(({ message }) => message.automatic !== "auto_replied"))
      })
    )
  },
  "leases events that others hold": {
    rewriting: {
      statement: LEASE,
      parts: [["and (leased_until is null or leased_until <= (select now from clock))", ""]]
    }
  },
  "does not lease the oldest events": {
    rewriting: {
      statement: LEASE,
      parts: [[`order by created_at, event_id ${LEASE}`, `order by md5(event_id::text) ${LEASE}`]]
    }
  },
  "accepts acknowledgements of lost deliveries": {
    rewriting: {
      statement: ACKNOWLEDGEMENT,
      parts: [
        [
          "when given.delivery_id = found.delivery_id and leased_until > (select now from clock) then",
          "when given.delivery_id is not null then"
        ]
      ]
    }
  },
  "accepts acknowledgements of other tenants": {
    rewriting: {
      statement: ACKNOWLEDGEMENT,
      parts: [
        ["and given.tenant_id is not distinct from events.tenant_id", ""],
        ["and found.tenant_id = given.tenant_id", ""]
      ]
    }
  },
  "never finishes the expiry of events": {
    around: around(EventStore, (store) => EventStore.of({ ...store, expire: () => Effect.never }))
  },
  "blocks the event loop when it is asked whether it is ready": {
    around: around(Transactor, (transactor) => Transactor.of({ ...transactor, ready: Effect.sync(blockForEver) }))
  },
  "waits in the event loop when it is asked whether it is ready": {
    around: around(Transactor, (transactor) => Transactor.of({ ...transactor, ready: Effect.sync(waitForEver) }))
  },
  "can't interrupt the expiry of events": {
    around: around(EventStore, (store) =>
      EventStore.of({
        ...store,
        expire: () => Effect.uninterruptible(Effect.andThen(Effect.logWarning(EXPIRY_BEGUN), Effect.never))
      })
    )
  },
  "neither receives signals of events nor polls": {
    around: (ports) =>
      Layer.succeed(EventSignal, { listen: () => Effect.void }).pipe(
        Layer.provideMerge(
          around(EventStore, (store) =>
            EventStore.of({ ...store, countReplayableEach: () => Effect.succeed(new Map<string, number>()) })
          )(ports)
        )
      )
  }
} as const satisfies Readonly<Record<string, Defect>>

export type DefectName = keyof typeof DEFECTS
