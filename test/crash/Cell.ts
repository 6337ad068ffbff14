import type { OperationStep } from "@agentos/core"
import type { CarrierFault, PlannedFault } from "./PlannedFault.ts"
import { type ClientKind, type End, type Service, SERVICES } from "./Purchase.ts"

/**
 * What comes between an operation and its usual end.
 * - `rejected`: the provider refuses the mail, the number or the call for good;
 * - `gone`: the mailbox is deleted, or the number given back (which ends its calls), between the payment and its use;
 * - `stranger`: the facilitator refuses, and then somebody else submits the authorization;
 * - `front-run`: somebody else submits the authorization just before the facilitator is asked;
 * - `cancelled`: the payer cancels the authorization just before the facilitator is asked;
 * - `unread`: somebody else submits the authorization between its claim and the reading of its nonce;
 * - `intercepted`: somebody else submits the authorization before the client has presented it.
 */
export type Twist = "rejected" | "gone" | "stranger" | "front-run" | "cancelled" | "unread" | "intercepted"

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
  "before_simulate",
  "after_simulate",
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
const TO_REFUND: ReadonlyArray<readonly [Service, Twist, Cell["fault"]]> = [
  ["email.mailbox.create", "stranger", { operation: "settle", mode: "reject" }],
  ["email.mailbox.update", "gone", undefined],
  ["email.mailbox.delete", "gone", undefined],
  ["email.message.send", "rejected", undefined],
  ["phone.number.us.30d", "rejected", { operation: "buy", mode: "reject" }],
  ["phone.number.ca.30d", "rejected", { operation: "buy", mode: "reject" }],
  ["phone.number.renew.30d", "gone", undefined],
  ["phone.call.outbound.1m", "rejected", { operation: "call", mode: "reject" }],
  ["phone.call.outbound.5m", "gone", undefined],
  ["phone.call.extend.1m", "gone", undefined],
  ["phone.call.inbound.add.10m", "gone", undefined]
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
    end: isForRequest(service) && client === "gives up" && TOO_LATE.has(step) ? "paid back" : undefined
  }))

/** What is done for the request that waits for it, or not at all. */
const isForRequest = (service: Service): boolean =>
  service.startsWith("phone.call.outbound") || service === "phone.call.extend.1m"
/** Steps at which it was paid for and not begun. */
const TOO_LATE: ReadonlySet<OperationStep> = new Set(["after_settle", "settled", "before_perform"])

/** Killed at each step of a refund. A client that repeats its bytes and does not pay anew shows what becomes of them. */
export const refundCells = (): ReadonlyArray<Cell> =>
  cross(REFUND_STEPS, cross(TO_REFUND, ["repeats", "gives up"] as const)).map(
    ([step, [[service, twist, fault], client]]) => ({
      service,
      client,
      step,
      killed: true,
      fault,
      twist,
      end: "paid back"
    })
  )

/** The facilitator fails in each way to settle, with and without a kill after it has. */
export const facilitatorCells = (): ReadonlyArray<Cell> =>
  cross(MODES, cross(SERVICES, cross(BOTH, [true, false]))).map(([mode, [service, [client, killed]]]) => ({
    service,
    client,
    step: killed ? "after_settle" : undefined,
    killed,
    fault: { operation: "settle", mode },
    twist: undefined,
    end: undefined
  }))

/** Others submit the authorization before the server has read its nonce; killed at each step of the refund. */
export const elsewhereCells = (): ReadonlyArray<Cell> =>
  cross(REFUND_STEPS, cross(["unread", "intercepted"] as const, cross(SERVICES, ["repeats", "gives up"] as const))).map(
    ([step, [twist, [service, client]]]) => ({
      service,
      client,
      step,
      killed: true,
      fault: undefined,
      twist,
      end: "paid back"
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

/** What each failure of the carrier is met by: a purchase of a number, a call or an extension of one. */
const TO_FAIL = {
  search: { "pays again": "phone.number.us.30d", "gives up": "phone.number.us.30d" },
  buy: { "pays again": "phone.number.us.30d", "gives up": "phone.number.ca.30d" },
  call: { "pays again": "phone.call.outbound.1m", "gives up": "phone.call.outbound.5m" },
  update: { "pays again": "phone.call.extend.1m", "gives up": "phone.call.extend.1m" }
} as const satisfies Record<CarrierFault, Record<"pays again" | "gives up", Service>>

/** The carrier fails in each way at each request, with and without a kill after it has. */
export const carrierCells = (): ReadonlyArray<Cell> =>
  cross(
    cross(["search", "buy", "call", "update"] as const, MODES),
    cross(["pays again", "gives up"] as const, [true, false])
  ).map(([[operation, mode], [client, killed]]) => ({
    service: TO_FAIL[operation][client],
    client,
    // What hangs is not done: the kill finds it where it is.
    step: killed && mode !== "hang" ? "after_perform" : undefined,
    killed,
    fault: { operation, mode },
    twist: undefined,
    end: carrierEnd(operation, mode, killed)
  }))

/** Numbers are had all the same, calls only where the carrier made them; an extension has not long to be heard of. */
const carrierEnd = (operation: CarrierFault, mode: PlannedFault["mode"], killed: boolean): End | undefined => {
  if (operation === "call") return mode === "before" || mode === "reject" ? "paid back" : "delivered"
  if (operation !== "update") return "delivered"
  if (killed) return undefined
  return mode === "reject" ? "paid back" : "delivered"
}

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
      end: twist === "cancelled" ? "never charged" : frontRunEnd(service, client)
    })
  )

/** Who comes again may be too late for what is only done for a request, and who does not always is. */
const frontRunEnd = (service: Service, client: ClientKind): End | undefined => {
  if (!isForRequest(service)) return "delivered"
  return client === "gives up" ? "paid back" : undefined
}

/** Every cell there is. */
export const allCells = (): ReadonlyArray<Cell> => [
  ...stepCells(),
  ...refundCells(),
  ...elsewhereCells(),
  ...interferenceCells(),
  ...facilitatorCells(),
  ...relayCells(),
  ...carrierCells()
]

/** Those whose service is of a half of the catalog. */
export const ofHalf = (half: "email" | "phone", cells: ReadonlyArray<Cell>): ReadonlyArray<Cell> =>
  cells.filter(({ service }) => service.startsWith(`${half}.`))

/** One service for each situation and client, in turns: of cells whose situations are the same for every service. */
export const inTurn = (cells: ReadonlyArray<Cell>): ReadonlyArray<Cell> => {
  const groups = Map.groupBy(cells, (cell) => `${situationOf(cell)}, ${cell.client}`)
  return [...groups.values()].map((group, index) => group[index % group.length]!)
}

/** One client for each situation and service, in turns. */
export const clientsInTurn = (cells: ReadonlyArray<Cell>): ReadonlyArray<Cell> => {
  const groups = Map.groupBy(cells, (cell) => `${situationOf(cell)}, ${cell.service}`)
  return [...groups.values()].map((group, index) => group[index % group.length]!)
}

/** Whether a cell takes a minute by itself: as long as the relay's silence is waited out. */
export const isSlow = ({ fault, killed }: Cell): boolean =>
  fault?.operation === "send" && fault.mode === "hang" && !killed

/** What a server is told to wait for, at most, when the call outside hangs: so long does the fault last. */
const HANG_MILLIS: Readonly<Record<PlannedFault["operation"], number>> = {
  settle: 30_000,
  send: 60_000,
  // A question is asked twice.
  search: 30_000,
  buy: 15_000,
  call: 15_000,
  update: 15_000
}

/** For how long after its beginning a cell's fault goes on. */
export const faultMillis = ({ fault }: Cell): number => (fault?.mode === "hang" ? HANG_MILLIS[fault.operation] : 0)

/** As people read it: what fails, where it is killed, what is bought, by whom. */
export const situationOf = ({ fault, killed, step, twist }: Cell): string =>
  [
    ...(twist === undefined ? [] : [TWISTS[twist]]),
    ...(fault === undefined || twist !== undefined ? [] : [`${fault.operation} ${fault.mode}`]),
    ...(step === undefined ? (killed ? ["killed"] : []) : [`killed at ${step}`])
  ].join(", ")

const TWISTS: Readonly<Record<Twist, string>> = {
  rejected: "refused for good",
  gone: "gone",
  stranger: "refused, then submitted by a stranger",
  "front-run": "submitted by a stranger first",
  cancelled: "cancelled by its payer",
  unread: "submitted by a stranger before its nonce was read",
  intercepted: "submitted by a stranger before it was presented"
}
