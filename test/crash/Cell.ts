import type { OperationStep } from "@agentos/core"
import type { PlannedFault } from "./PlannedFault.ts"
import { type ClientKind, type End, type Service, SERVICES } from "./Purchase.ts"

/**
 * What comes between an operation and its usual end.
 * - `rejected`: the provider refuses the mail for good;
 * - `gone`: the mailbox is deleted between the payment and its use;
 * - `stranger`: the facilitator refuses, and then somebody else submits the authorization;
 * - `front-run`: somebody else submits the authorization just before the facilitator is asked;
 * - `cancelled`: the payer cancels the authorization just before the facilitator is asked.
 */
export type Twist = "rejected" | "gone" | "stranger" | "front-run" | "cancelled"

/** One case of the matrix: what is bought, what goes wrong, and where the server is killed. */
export interface Cell {
  readonly service: Service
  readonly client: ClientKind
  /** Where the server is killed; undefined where it is not, or wherever it happens to be. */
  readonly step: OperationStep | undefined
  readonly killed: boolean
  readonly fault: Pick<PlannedFault, "operation" | "mode"> | undefined
  readonly twist: Twist | undefined
  /** The only end that is right, where there is one. */
  readonly end: End | undefined
}

export const PAYMENT_STEPS = [
  "claimed",
  "before_settle",
  "after_settle",
  "settled",
  "before_perform",
  "after_perform",
  "fulfilled",
  "before_answer"
] as const satisfies ReadonlyArray<OperationStep>

export const REFUND_STEPS = [
  "refund_owed",
  "before_refund",
  "after_refund",
  "refunded"
] as const satisfies ReadonlyArray<OperationStep>

const MODES = ["before", "after", "reject", "hang"] as const

/** How each service's payments come to be owed back. A new mailbox can neither be refused nor be gone. */
const TO_REFUND: ReadonlyArray<readonly [Service, Twist]> = [
  ["email.mailbox.create", "stranger"],
  ["email.mailbox.update", "gone"],
  ["email.mailbox.delete", "gone"],
  ["email.message.send", "rejected"]
]

const cross = <A, B>(left: ReadonlyArray<A>, right: ReadonlyArray<B>): ReadonlyArray<readonly [A, B]> =>
  left.flatMap((a) => right.map((b) => [a, b] as const))

const BOTH: ReadonlyArray<ClientKind> = ["pays again", "gives up"]

/** Killed at each step, for each service, with a client that comes again and one that does not. */
export const stepCells = (): ReadonlyArray<Cell> =>
  cross(PAYMENT_STEPS, cross(SERVICES, BOTH)).map(([step, [service, client]]) => ({
    service,
    client,
    step,
    killed: true,
    fault: undefined,
    twist: undefined,
    end: undefined
  }))

/** Killed at each step of a refund. A client that repeats its bytes and does not pay anew shows what becomes of them. */
export const refundCells = (): ReadonlyArray<Cell> =>
  cross(REFUND_STEPS, cross(TO_REFUND, ["repeats", "gives up"] as const)).map(([step, [[service, twist], client]]) => ({
    service,
    client,
    step,
    killed: true,
    fault: twist === "stranger" ? { operation: "settle", mode: "reject" } : undefined,
    twist,
    end: "paid back"
  }))

/** The facilitator fails in each way at each call, with and without a kill after it has. */
export const facilitatorCells = (): ReadonlyArray<Cell> =>
  cross(cross(["verify", "settle"] as const, MODES), cross(SERVICES, cross(BOTH, [true, false]))).map(
    ([[operation, mode], [service, [client, killed]]]) => ({
      service,
      client,
      // A verification that fails leaves no operation that could be stopped: the kill finds it where it is.
      step: killed && operation === "settle" ? "after_settle" : undefined,
      killed,
      fault: { operation, mode },
      twist: undefined,
      end: undefined
    })
  )

/** The relay fails in each way, with and without a kill after it has. */
export const relayCells = (): ReadonlyArray<Cell> =>
  cross(MODES, cross(BOTH, [true, false])).map(([mode, [client, killed]]) => ({
    service: "email.message.send",
    client,
    // What hangs is not done: the kill finds it where it is.
    step: killed && mode !== "hang" ? "after_perform" : undefined,
    killed,
    fault: { operation: "send", mode },
    twist: undefined,
    end: mode === "reject" && !killed ? "paid back" : undefined
  }))

/** The authorization is used by others, and the server is killed when the facilitator has said so. */
export const interferenceCells = (): ReadonlyArray<Cell> =>
  cross(["front-run", "cancelled"] as const, cross(SERVICES, ["repeats", "gives up"] as const)).map(
    ([twist, [service, client]]) => ({
      service,
      client,
      step: "after_settle",
      killed: true,
      fault: undefined,
      twist,
      end: twist === "cancelled" ? "never charged" : "delivered"
    })
  )

/** Every cell there is. */
export const allCells = (): ReadonlyArray<Cell> => [
  ...stepCells(),
  ...refundCells(),
  ...interferenceCells(),
  ...facilitatorCells(),
  ...relayCells()
]

/** One service for each situation and client, in turns: of cells whose situations are the same for every service. */
export const inTurn = (cells: ReadonlyArray<Cell>): ReadonlyArray<Cell> => {
  const groups = Map.groupBy(cells, (cell) => `${situationOf(cell)}, ${cell.client}`)
  return [...groups.values()].map((group, index) => group[index % group.length]!)
}

/** Whether a cell takes a minute by itself: as long as the relay's silence is waited out. */
export const isSlow = ({ fault, killed }: Cell): boolean =>
  fault?.operation === "send" && fault.mode === "hang" && !killed

/** What a server is told to wait for, at most, when the call outside hangs: so long does the fault last. */
const HANG_MILLIS = { verify: 10_000, settle: 30_000, send: 60_000 }

/** For how long after its beginning a cell's fault goes on. */
export const faultMillis = ({ fault }: Cell): number => (fault?.mode === "hang" ? HANG_MILLIS[fault.operation] : 0)

/** As people read it: what fails, where it is killed, what is bought, by whom. */
export const situationOf = ({ fault, killed, step, twist }: Cell): string =>
  [
    ...(twist === undefined ? [] : [TWISTS[twist]]),
    ...(fault === undefined || twist === "stranger" ? [] : [`${fault.operation} ${fault.mode}`]),
    ...(step === undefined ? (killed ? ["killed"] : []) : [`killed at ${step}`])
  ].join(", ")

const TWISTS: Readonly<Record<Twist, string>> = {
  rejected: "mail refused for good",
  gone: "mailbox gone",
  stranger: "refused, then submitted by a stranger",
  "front-run": "submitted by a stranger first",
  cancelled: "cancelled by its payer"
}
