import {
  AttachmentStore,
  CallStore,
  Core,
  EmailProvider,
  EventSignal,
  EventStore,
  InboundMailStore,
  JobStore,
  ManualRefundStore,
  Keyring,
  MailboxStore,
  MailParser,
  noMailParser,
  MessageRetryStore,
  MessageStore,
  OperationCompletion,
  type OperationStep,
  OperationSteps,
  OfferReceipts,
  OperationStore,
  PaymentRail,
  RealtimeTokens,
  RetentionStore,
  SalesStopStore,
  TenantStore,
  Transactor
} from "@agentos/core"
import { Memory, MemoryDatabase } from "@agentos/memory"
import { Context, Deferred, Effect, Exit, Layer, Option, Redacted, Scope } from "effect"
import { SimulatedFault } from "./SimulatedFault.ts"
import { gated, SimulatedProcess } from "./SimulatedProcess.ts"
import * as SimulatedRail from "./SimulatedRail.ts"
import { type Links, mailProvider, now, type SimulatedWorld } from "./SimulatedWorld.ts"
import { testKeyring } from "./TestKeyring.ts"

/** All stores, on one database whose tables can be inspected. */
export const stores = Layer.provideMerge(Memory.stores, MemoryDatabase.layer)
export type Stores = Layer.Success<typeof stores>

type Services = Layer.Success<typeof Core.layer> | OperationStore | TenantStore

/** Replacements for the ports of every server, to observe the server or to break it on purpose. */
export interface Decorations {
  readonly operations: (store: OperationStore["Service"]) => OperationStore["Service"]
  readonly mailboxes: (store: MailboxStore["Service"]) => MailboxStore["Service"]
  readonly events: (store: EventStore["Service"]) => EventStore["Service"]
  readonly rail: (rail: PaymentRail["Service"]) => PaymentRail["Service"]
  readonly provider: (provider: EmailProvider["Service"]) => EmailProvider["Service"]
}

/**
 * The store operations that a worker runs outside transactions. A process that froze inside a transaction would block
 * all other servers.
 */
const OUTSIDE_TRANSACTIONS: ReadonlySet<string | symbol> = new Set(["setNextAttempt", "takeDue", "takeOver"])

export const STORE_FAULTS = ["before", "within", "after"] as const

export class StoreLost extends Error {}

/** How long a process that was frozen may continue work that another server has taken over. */
const BEHIND_MILLIS = 60_000

/**
 * One server: the whole core with its completion job, on stores and in a world that it shares with other servers. It
 * can be killed at any time or at an operation step, frozen, cut off from services, and started again.
 */
export class SimulatedServer {
  /** The links that are cut; they stay cut after a restart. */
  readonly links: Links = { chain: false, facilitator: false, mail: false, behindUntil: 0 }
  /** The fault of its transactions: the database is lost before a transaction, inside it, or after its commit. */
  readonly storeFault = new SimulatedFault<(typeof STORE_FAULTS)[number]>()
  readonly #world: SimulatedWorld
  readonly #stores: Context.Context<Stores>
  readonly #keyring = testKeyring([1], 1)
  readonly #decorations: Decorations
  #process: SimulatedProcess | undefined
  #services: Context.Context<Services> | undefined
  #losesWithin = false
  #killAt: { readonly step: OperationStep; skip: number } | undefined
  #freezeAt: { readonly step: OperationStep; readonly seconds: number } | undefined

  constructor(world: SimulatedWorld, context: Context.Context<Stores>, decorations: Decorations) {
    this.#world = world
    this.#stores = context
    this.#decorations = decorations
  }

  get isUp(): boolean {
    return this.#process !== undefined
  }

  /** Starts the process, unless it is running. */
  readonly start: Effect.Effect<void> = Effect.suspend(() => {
    if (this.#process !== undefined) return Effect.void
    const process = new SimulatedProcess()
    this.#process = process
    return Layer.buildWithMemoMap(this.#layer(process), Layer.makeMemoMapUnsafe(), process.scope).pipe(
      Effect.tap((services) => {
        this.#services = services
        return Effect.forkIn(Effect.provide(OperationCompletion.run, services), process.scope)
      }),
      Effect.asVoid
    )
  })

  /** Ends the process as SIGKILL does: pending writes are not made. */
  readonly kill: Effect.Effect<void> = Effect.suspend(() => {
    const process = this.#process
    if (process === undefined) return Effect.void
    this.#die(process)
    return Scope.close(process.scope, Exit.void)
  })

  /** Kills the process when it reaches a step, after skipping the step `skip` times. */
  killAt(step: OperationStep, skip: number): void {
    this.#killAt = { step, skip }
  }

  /** Freezes the process for `seconds` when it reaches a step. */
  freezeAt(step: OperationStep, seconds: number): void {
    this.#freezeAt = { step, seconds }
  }

  freeze(): void {
    if (this.#process === undefined) return
    this.#process.freeze()
    this.links.behindUntil = Number.POSITIVE_INFINITY
  }

  /** Continues a frozen process, at a time in unix milliseconds. Its pending work is then still done. */
  thaw(at: number): void {
    this.#process?.thaw()
    if (this.links.behindUntil === Number.POSITIVE_INFINITY) this.links.behindUntil = at + BEHIND_MILLIS
  }

  /** Ends all faults of the server itself. */
  lift(at: number): void {
    this.#killAt = undefined
    this.#freezeAt = undefined
    this.storeFault.lift()
    Object.assign(this.links, { chain: false, facilitator: false, mail: false } satisfies Partial<Links>)
    this.thaw(at)
  }

  /** Returns the server's answer to a client, or none if the connection is refused or the server dies. */
  ask<A, E>(request: Effect.Effect<A, E, Services>): Effect.Effect<Option.Option<A>, E> {
    return Effect.suspend(() => {
      const process = this.#process
      const services = this.#services
      if (process === undefined || services === undefined) return Effect.succeedNone
      const answered = Effect.flatMap(Effect.exit(Effect.provide(request, services)), (exit) =>
        process.alive ? Effect.asSome(exit) : Effect.never
      )
      return Effect.raceFirst(answered, Effect.as(Deferred.await(process.died), Option.none<A>()))
    })
  }

  #die(process: SimulatedProcess): void {
    process.alive = false
    process.thaw()
    Deferred.doneUnsafe(process.died, Effect.void)
    this.#killAt = undefined
    this.#freezeAt = undefined
    this.links.behindUntil = 0
    if (this.#process === process) this.#process = undefined
  }

  #layer(process: SimulatedProcess) {
    const { events, mailboxes, operations, provider, rail } = this.#decorations
    const stored = this.#stores
    const alive = <S extends object>(service: S): S => gated(service, () => process.whileAlive)
    const moving = <S extends object>(service: S): S => gated(service, () => process.whenMoving)
    const ports = Layer.mergeAll(
      Layer.succeed(
        OperationStore,
        gated(this.#losingWithin(operations(Context.get(stored, OperationStore))), (name) =>
          OUTSIDE_TRANSACTIONS.has(name) ? process.whenMoving : process.whileAlive
        )
      ),
      Layer.succeed(Transactor, moving(this.#losing(Context.get(stored, Transactor)))),
      Layer.succeed(EventStore, alive(events(Context.get(stored, EventStore)))),
      Layer.succeed(MailboxStore, alive(mailboxes(Context.get(stored, MailboxStore)))),
      Layer.succeed(TenantStore, alive(Context.get(stored, TenantStore))),
      Layer.succeed(MessageRetryStore, alive(Context.get(stored, MessageRetryStore))),
      Layer.succeed(MessageStore, alive(Context.get(stored, MessageStore))),
      Layer.succeed(AttachmentStore, alive(Context.get(stored, AttachmentStore))),
      Layer.succeed(CallStore, alive(Context.get(stored, CallStore))),
      Layer.succeed(JobStore, Context.get(stored, JobStore)),
      Layer.succeed(ManualRefundStore, alive(Context.get(stored, ManualRefundStore))),
      Layer.succeed(RetentionStore, Context.get(stored, RetentionStore)),
      Layer.succeed(SalesStopStore, Context.get(stored, SalesStopStore)),
      Layer.succeed(InboundMailStore, alive(Context.get(stored, InboundMailStore))),
      Layer.succeed(EventSignal, Context.get(this.#stores, EventSignal)),
      Layer.succeed(Keyring, this.#keyring),
      Layer.succeed(PaymentRail, moving(rail(SimulatedRail.make(this.#world, this.links)))),
      Layer.succeed(EmailProvider, moving(provider(mailProvider(this.#world, this.links)))),
      Layer.succeed(OperationSteps, (step) => this.#reach(process, step)),
      Layer.succeed(MailParser, noMailParser),
      Layer.succeed(RealtimeTokens, {
        issue: () => Effect.succeed(Redacted.make("realtime")),
        verify: () => Effect.succeedNone
      })
    )
    return Core.layer.pipe(
      Layer.provideMerge(OfferReceipts.layer("https://agentos.example")),
      Layer.provideMerge(ports)
    )
  }

  /** Loses the database inside a transaction, between two of its writes. */
  #losingWithin(store: OperationStore["Service"]): OperationStore["Service"] {
    const unlessLost = <A>(write: Effect.Effect<A>): Effect.Effect<A> =>
      Effect.suspend(() => {
        if (!this.#losesWithin) return write
        this.#losesWithin = false
        return Effect.die(new StoreLost())
      })
    return {
      ...store,
      claim: (...asked) => unlessLost(store.claim(...asked)),
      post: (entries) => unlessLost(store.post(entries))
    }
  }

  #losing({ ready, transact }: Transactor["Service"]): Transactor["Service"] {
    return {
      ready,
      transact: (effect) =>
        Effect.suspend(() => {
          const mode = this.storeFault.take()
          if (mode === undefined) return transact(effect)
          const lost = Effect.die(new StoreLost())
          if (mode === "before") return lost
          this.#losesWithin = mode === "within"
          return mode === "within" ? transact(effect) : Effect.andThen(transact(effect), lost)
        })
    }
  }

  #reach(process: SimulatedProcess, step: OperationStep): Effect.Effect<void> {
    return process.whenMoving(
      Effect.suspend(() => {
        if (this.#freezeAt?.step === step) return this.#freezeFor(process, this.#freezeAt.seconds)
        if (this.#killAt?.step !== step || this.#killAt.skip-- > 0) return Effect.void
        this.#die(process)
        return Effect.andThen(Effect.forkDetach(Scope.close(process.scope, Exit.void)), Effect.interrupt)
      })
    )
  }

  #freezeFor(process: SimulatedProcess, seconds: number): Effect.Effect<void> {
    this.#freezeAt = undefined
    this.freeze()
    const thaw = Effect.map(Effect.andThen(Effect.sleep(seconds * 1_000), now), (at) => {
      if (process.alive) this.thaw(at)
    })
    return Effect.andThen(Effect.forkDetach(thaw), process.whenMoving(Effect.void))
  }
}
