import { MailboxStore, newMailbox, TenantStore, Timestamp, Transactor, walletAddress } from "@agentos/core"
import { MemoryDatabase } from "@agentos/memory"
import { Cause, Context, Effect, Layer, Logger, type Scope } from "effect"
import { TestClock } from "effect/testing"
import { REFUND_WALLET } from "../../support/SimulatedRail.ts"
import { type Decorations, SimulatedServer, stores, type Stores } from "../../support/SimulatedServer.ts"
import { SimulatedWorld } from "../../support/SimulatedWorld.ts"
import type { History } from "./Command.ts"
import { Hearing, isDefect } from "./Hearing.ts"
import { type Tables, Witness } from "./Witness.ts"

/** The buying wallets. The last one has little money. */
export const WALLETS = [1, 2, 3].map((number) => `0x00000000000000000000000000000000000000d${number}`)
const RICHES = 1_000_000_000n
const LITTLE = 300_000n
/** Balance of the refund wallet, if there is one, at the start and after it is filled. */
export const REFUND_FUNDS = 20_000_000n

/** Start time of every history. */
const BEGINNING = 1_700_000_000_000

/** Deliberate defects of the servers. Empty unless the model itself is tested. */
export type Breakage = Partial<Decorations>

/** Two servers on one database, in a simulated world that tests can inspect. */
export interface Deployment {
  readonly world: SimulatedWorld
  readonly stores: Context.Context<Stores>
  readonly tables: Tables
  readonly witness: Witness
  readonly hearing: Hearing
  readonly servers: readonly [SimulatedServer, SimulatedServer]
}

const same = <A>(service: A): A => service

/** Reports a logged error as a finding if it is a defect, since no simulated fault may cause one. */
export const watchedLog = (witness: Witness) =>
  Logger.layer([
    Logger.make(({ cause, logLevel, message }) => {
      if ((logLevel === "Error" || logLevel === "Fatal") && isDefect(cause)) {
        witness.report(`logged: ${String(message)} ${Cause.pretty(cause)}`)
      }
    })
  ])

/** Creates a mailbox for a wallet at the start, so that most histories have one to use. */
const giveMailbox = Effect.fnUntraced(function* (wallet: string, localPart: string) {
  const createdAt = yield* Timestamp.now
  const id = (part: number) => `01800000-0000-7000-8000-0000000${wallet.slice(-2)}${part.toString().padStart(3, "0")}`
  const mailboxes = yield* MailboxStore
  const tenants = yield* TenantStore
  const transactor = yield* Transactor
  yield* transactor.transact(
    Effect.gen(function* () {
      const candidate = { tenantId: id(1), wallet: walletAddress(wallet), tokenVersion: 1, createdAt }
      const { tenantId } = yield* tenants.ensure(candidate)
      const mailbox = newMailbox({ mailboxId: id(2), tenantId, localPart, domain: "agents.test", createdAt })
      yield* mailboxes.reserve(localPart, tenantId, id(3))
      yield* mailboxes.create(mailbox, id(3))
    })
  )
})

/** Makes a deployment with its servers not started. Everything in it ends with the scope. */
export const deploy = Effect.fnUntraced(function* (
  { refundWallet, tiesTransfers }: Pick<History, "refundWallet" | "tiesTransfers">,
  breakage: Breakage
): Effect.fn.Return<Deployment, never, Scope.Scope> {
  yield* TestClock.setTime(BEGINNING)
  const world = new SimulatedWorld(refundWallet, tiesTransfers)
  WALLETS.forEach((wallet, index) => world.chain.fund(wallet, index === WALLETS.length - 1 ? LITTLE : RICHES))
  if (refundWallet) world.chain.fund(REFUND_WALLET, REFUND_FUNDS)
  const context = yield* Layer.build(stores)
  const database = Context.get(context, MemoryDatabase)
  const { tables } = database
  const witness = new Witness(world, database)
  world.watcher = witness.watcher
  const { operations = same, ...others } = breakage
  const decorations: Decorations = {
    mailboxes: same,
    events: same,
    rail: same,
    provider: same,
    ...others,
    operations: (store) => witness.watch(operations(store))
  }
  const servers = [
    new SimulatedServer(world, context, decorations),
    new SimulatedServer(world, context, decorations)
  ] as const
  yield* Effect.addFinalizer(() => Effect.forEach(servers, (server) => server.kill))
  for (const [index, wallet] of WALLETS.slice(0, 2).entries()) {
    yield* Effect.provide(giveMailbox(wallet, `first-${index}`), context)
  }
  return { world, stores: context, tables, witness, hearing: new Hearing(world, tables, witness), servers }
})
