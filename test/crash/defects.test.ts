import { describe, expect, it } from "vitest"
import type { DefectName } from "../faults/server/Defects.ts"
import { invariantsOf } from "../faults/verdict/Judge.ts"
import type { PAYMENT_INVARIANTS } from "../faults/verdict/PaymentInvariants.ts"
import type { PROVIDER_INVARIANTS } from "../faults/verdict/ProviderInvariants.ts"
import { allCells, situationOf } from "./Cell.ts"
import { runMatrix } from "./MatrixRun.ts"
import type { ClientKind, Service } from "./Purchase.ts"
import { Shop } from "./Shop.ts"

const TIMEOUT_MILLIS = 600_000
/** A broken server may never finish. */
const END_MILLIS_MAX = 8_000

type InvariantName = keyof typeof PAYMENT_INVARIANTS | keyof typeof PROVIDER_INVARIANTS

/** One or more cells of the crash matrix. */
type Situation = readonly [situation: string, client: ClientKind, ...services: ReadonlyArray<Service>]

// Most of the time they wait.
describe.concurrent("the invariants reject a server that", () => {
  it.each<[DefectName, Situation, ...ReadonlyArray<InvariantName>]>([
    [
      "treats a facilitator's timeout as a refusal",
      ["settle after", "pays again", "email.message.send"],
      "a charge is delivered or refunded"
    ],
    [
      "treats a facilitator's timeout as a refusal",
      ["settle after", "follows advice", "email.message.send"],
      "the advice is right"
    ],
    [
      "treats every used nonce as a payment",
      ["cancelled by its payer, killed at after_settle", "repeats", "email.message.send"],
      "goods are charged"
    ],
    [
      "records a mail as sent without the relay's reply",
      ["send before", "gives up", "email.message.send"],
      "a success means that the goods exist"
    ],
    [
      "refunds under a new nonce each time",
      ["rejected, killed at after_refund", "repeats", "email.message.send"],
      "only what is owed is refunded"
    ],
    [
      "dials again after a lost answer",
      ["call after", "pays again", "phone.call.outbound.1m"],
      "goods are delivered at most once"
    ],
    [
      "forgets reserved numbers and granted extensions",
      ["killed at after_perform", "pays again", "phone.number.us.30d", "phone.call.extend.1m"],
      "every sold number has one owner",
      "goods are delivered at most once"
    ]
  ])(
    "%s",
    async (defect, [situation, client, ...services], ...invariants) => {
      const cells = allCells().filter(
        (cell) => situationOf(cell) === situation && cell.client === client && services.includes(cell.service)
      )
      expect(cells).toHaveLength(services.length)
      const { outcome } = await Shop.with({ database: "pglite", defect }, (shop) =>
        runMatrix(shop, cells, END_MILLIS_MAX)
      )
      expect(invariantsOf(outcome.violations)).toEqual(expect.arrayContaining([...invariants]))
    },
    TIMEOUT_MILLIS
  )
})
