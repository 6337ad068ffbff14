import type { OperationStep } from "@agentos/core"
import type { ProviderFault } from "../faults/fault/ProviderFaults.ts"
import type { End } from "../faults/observation/Purchases.ts"
import type { PaymentMethod } from "../support/Authorization.ts"
import { type ClientKind, type Service, SERVICES } from "./Purchase.ts"
import type { SmartAccountKind } from "./Shop.ts"

/**
 * An interference between an operation and its usual end.
 * - `rejected`: the provider refuses the mail, the number or the call permanently;
 * - `gone`: the mailbox is deleted, or the number released (which ends its calls), between payment and use;
 * - `stranger`: the facilitator refuses, and then a stranger submits the authorization;
 * - `front-run`: a stranger submits the authorization just before the facilitator is called;
 * - `cancelled`: the payer cancels the authorization just before the facilitator is called;
 * - `allowed`: a stranger uses the allowance that comes with the payment, and not the payment, just before the facilitator is called;
 * - `outrun`: the payer uses up the nonce of that allowance for another one, just before the facilitator is called;
 * - `unread`: a stranger submits the authorization between its claim and the reading of its nonce;
 * - `intercepted`: a stranger submits the authorization before the client presents it;
 * - `disowned`: the owner of the smart account that pays is replaced after the claim;
 * - `unsent`: the client is killed between signing and sending;
 * - `forgotten`: the same, and it returns after the authorization has expired;
 * - `stolen`: the same, and a stranger submits the authorization meanwhile;
 * - `withdrawn`: the same, and the payer cancels the authorization meanwhile.
 */
export type Twist =
  | "rejected"
  | "gone"
  | "stranger"
  | "front-run"
  | "cancelled"
  | "allowed"
  | "outrun"
  | "unread"
  | "intercepted"
  | "disowned"
  | "unsent"
  | "forgotten"
  | "stolen"
  | "withdrawn"

/** One case of the matrix: a service, a client, a fault, and the step at which the server is killed. */
export interface Cell {
  readonly service: Service
  readonly client: ClientKind
  /** Undefined if the server is not killed, or is killed at no particular step. */
  readonly step: OperationStep | undefined
  readonly killed: boolean
  readonly fault: Pick<ProviderFault, "operation" | "mode"> | undefined
  readonly twist: Twist | undefined
  /** The smart account that pays; by default a key does. */
  readonly account?: SmartAccountKind
  /** The only correct end, where there is one. */
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

/** How each service comes to owe a refund. A new mailbox can be neither rejected nor gone. */
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

/** The services that call no provider: payment, result and answer are committed together. */
const AT_ONCE: ReadonlySet<Service> = new Set([
  "email.mailbox.create",
  "email.mailbox.update",
  "email.mailbox.delete",
  "phone.number.renew.30d",
  "phone.call.inbound.add.10m"
])
/** Steps between commits that such a service makes together. */
const BETWEEN: ReadonlySet<OperationStep> = new Set(["settled", "before_perform", "after_perform"])

/** Returns whether a purchase of the service comes to the step, if nothing prevents it. */
export const comesTo = (service: Service, step: OperationStep): boolean => !(AT_ONCE.has(service) && BETWEEN.has(step))

const cross = <A, B>(left: ReadonlyArray<A>, right: ReadonlyArray<B>): ReadonlyArray<readonly [A, B]> =>
  left.flatMap((a) => right.map((b) => [a, b] as const))

const BOTH: ReadonlyArray<ClientKind> = ["pays again", "gives up"]

/** Killed at each step, for each service, with a client that repeats its request and one that gives up. */
export const stepCells = (): ReadonlyArray<Cell> =>
  cross(PAYMENT_STEPS, cross(SERVICES, BOTH))
    .filter(([step, [service]]) => comesTo(service, step))
    .map(([step, [service, client]]) => ({
      service,
      client,
      step,
      killed: true,
      fault: undefined,
      twist: undefined,
      end: needsClient(service) && client === "gives up" && NOT_BEGUN.has(step) ? "refunded" : undefined
    }))

/** Whether the service is performed only for a client that waits for it. */
const needsClient = (service: Service): boolean =>
  service.startsWith("phone.call.outbound") || service === "phone.call.extend.1m"
/** Steps at which the service is paid and not begun. */
const NOT_BEGUN: ReadonlySet<OperationStep> = new Set(["after_settle", "settled", "before_perform"])

/** Killed after the attachments of a mail were stored, and before its payment was claimed. */
export const stagedCells = (): ReadonlyArray<Cell> =>
  BOTH.map((client) => ({
    service: "email.message.send",
    client,
    step: "staged",
    killed: true,
    fault: undefined,
    twist: undefined,
    end: undefined
  }))

/** Killed at each step of a refund. */
export const refundCells = (): ReadonlyArray<Cell> =>
  cross(REFUND_STEPS, cross(TO_REFUND, ["repeats", "gives up"] as const)).map(
    ([step, [[service, twist, fault], client]]) => ({
      service,
      client,
      step,
      killed: true,
      fault,
      twist,
      end: "refunded"
    })
  )

/** The facilitator fails in each mode, with and without a kill afterwards. */
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

/** A stranger submits the authorization before the server reads its nonce; killed at each step of the refund. */
export const strangerCells = (): ReadonlyArray<Cell> =>
  cross(REFUND_STEPS, cross(["unread", "intercepted"] as const, cross(SERVICES, ["repeats", "gives up"] as const))).map(
    ([step, [twist, [service, client]]]) => ({
      service,
      client,
      step,
      killed: true,
      fault: undefined,
      twist,
      end: "refunded"
    })
  )

/** The relay fails in each mode, with and without a kill afterwards. */
export const relayCells = (): ReadonlyArray<Cell> =>
  cross(MODES, cross(BOTH, [true, false])).map(([mode, [client, killed]]) => ({
    service: "email.message.send",
    client,
    // A call that hangs reaches no further step.
    step: killed && mode !== "hang" ? "after_perform" : undefined,
    killed,
    fault: { operation: "send", mode },
    twist: undefined,
    end: mode === "reject" && !killed ? "refunded" : undefined
  }))

/** The services that meet each failure of the carrier. */
const CARRIER_SERVICES = {
  search: { "pays again": "phone.number.us.30d", "gives up": "phone.number.us.30d" },
  buy: { "pays again": "phone.number.us.30d", "gives up": "phone.number.ca.30d" },
  call: { "pays again": "phone.call.outbound.1m", "gives up": "phone.call.outbound.5m" },
  update: { "pays again": "phone.call.extend.1m", "gives up": "phone.call.extend.1m" }
} as const satisfies Partial<Record<ProviderFault["operation"], Record<"pays again" | "gives up", Service>>>
type CarrierOperation = keyof typeof CARRIER_SERVICES

/** The carrier fails in each mode at each request, with and without a kill afterwards. */
export const carrierCells = (): ReadonlyArray<Cell> =>
  cross(
    cross(["search", "buy", "call", "update"] as const, MODES),
    cross(["pays again", "gives up"] as const, [true, false])
  ).map(([[operation, mode], [client, killed]]) => ({
    service: CARRIER_SERVICES[operation][client],
    client,
    // A call that hangs reaches no further step.
    step: killed && mode !== "hang" ? "after_perform" : undefined,
    killed,
    fault: { operation, mode },
    twist: undefined,
    end: carrierEnd(operation, mode, killed)
  }))

/** A number is bought in any case, a call delivered only if the carrier made it. An extension has a minute to succeed. */
const carrierEnd = (operation: CarrierOperation, mode: ProviderFault["mode"], killed: boolean): End | undefined => {
  if (operation === "call") return mode === "before" || mode === "reject" ? "refunded" : "delivered"
  if (operation !== "update") return "delivered"
  if (killed) return undefined
  return mode === "reject" ? "refunded" : "delivered"
}

/** A smart account pays, and the server is killed at each step of the payment or its refund. */
export const smartAccountCells = (): ReadonlyArray<Cell> => [
  ...cross(
    PAYMENT_STEPS.filter((step) => comesTo(SMART.service, step)),
    cross(["deployed", "undeployed"] as const, BOTH)
  ).map(([step, [account, client]]) => ({
    ...SMART,
    client,
    account,
    step,
    fault: undefined,
    twist: undefined,
    end: undefined
  })),
  ...cross(REFUND_STEPS, BOTH).map(([step, client]) => ({
    ...SMART,
    client,
    account: "deployed" as const,
    step,
    fault: { operation: "settle", mode: "reject" } as const,
    twist: "stranger" as const,
    end: "refunded" as const
  })),
  ...BOTH.map((client) => ({
    ...SMART,
    client,
    account: "deployed" as const,
    step: "after_simulate" as const,
    fault: undefined,
    twist: "disowned" as const,
    end: "never charged" as const
  }))
]

const SMART = { service: "email.mailbox.create", killed: true } as const

const interfered = (twists: ReadonlyArray<Twist>): ReadonlyArray<Cell> =>
  cross(twists, cross(SERVICES, ["repeats", "gives up"] as const)).map(([twist, [service, client]]) => ({
    service,
    client,
    step: "after_settle",
    killed: true,
    fault: undefined,
    twist,
    end: isWithdrawn(twist) ? "never charged" : frontRunEnd(service, client)
  }))

/** Others use the authorization, and the server is killed after the facilitator has answered. */
export const interferenceCells = (): ReadonlyArray<Cell> => interfered(["front-run", "cancelled"])

/** The same, with the allowance that comes with the payment. */
export const allowanceCells = (): ReadonlyArray<Cell> => interfered(["allowed", "outrun"])

/** Whether the payment can't be charged any more. */
const isWithdrawn = (twist: Twist | undefined): boolean => twist === "cancelled" || twist === "outrun"

/** A client that repeats its request may be too late for a service that needs it. One that gives up always is. */
const frontRunEnd = (service: Service, client: ClientKind): End | undefined => {
  if (!needsClient(service)) return "delivered"
  return client === "gives up" ? "refunded" : undefined
}

const repeatedCells = (): ReadonlyArray<Cell> => [
  ...stepCells(),
  ...stagedCells(),
  ...refundCells(),
  ...strangerCells(),
  ...interferenceCells(),
  ...allowanceCells(),
  ...smartAccountCells(),
  ...facilitatorCells(),
  ...relayCells(),
  ...carrierCells()
]

/**
 * The end of a cell for a client that follows advice: it waits while an operation holds its payment. A payment that was not settled
 * before the kill may expire before it is submitted again, and then the client pays by another one.
 */
const advisedEnd = ({ end, fault, service, step, twist }: Cell): End | undefined => {
  if (isWithdrawn(twist)) return "delivered"
  if (twist === "front-run" || twist === "allowed") return frontRunEnd(service, "gives up")
  const isSettled = fault?.mode !== "before" && fault?.mode !== "reject"
  const isAbandoned =
    twist === undefined && step !== undefined && NOT_BEGUN.has(step) && isSettled && needsClient(service)
  return end ?? (isAbandoned ? "refunded" : undefined)
}

/**
 * The cells of clients that come back, with one that was killed too and follows the status of its payment. Four more for
 * each service: it is killed before it sends the payment.
 */
export const adviceCells = (): ReadonlyArray<Cell> => [
  ...repeatedCells()
    // An account that was taken over can't pay again.
    .filter(({ client, twist }) => client !== "gives up" && twist !== "disowned")
    .map((cell): Cell => ({ ...cell, client: "follows advice", end: advisedEnd(cell) })),
  ...cross(["unsent", "forgotten", "stolen", "withdrawn"] as const, SERVICES).map(([twist, service]): Cell => ({
    service,
    client: "follows advice",
    step: undefined,
    killed: false,
    fault: undefined,
    twist,
    end: twist === "stolen" ? "refunded" : "delivered"
  }))
]

/** Every cell of the matrix. */
export const allCells = (): ReadonlyArray<Cell> => [...repeatedCells(), ...adviceCells()]

/**
 * Whether a cell can be played by a method: no payment by Permit2 deploys its account, and only a key signs the allowance that comes
 * with a payment.
 */
export const isPayableBy = (method: PaymentMethod, { account, twist }: Cell): boolean =>
  method === "sponsored"
    ? account === undefined
    : twist !== "allowed" && twist !== "outrun" && (method === "eip3009" || account !== "undeployed")

/** The cells of one half of the catalog. */
export const ofHalf = (half: "email" | "phone", cells: ReadonlyArray<Cell>): ReadonlyArray<Cell> =>
  cells.filter(({ service }) => service.startsWith(`${half}.`))

/** Reduces cells to one of each group, in turn. */
const oneOfEach = (cells: ReadonlyArray<Cell>, key: (cell: Cell) => string): ReadonlyArray<Cell> =>
  [...Map.groupBy(cells, (cell) => `${situationOf(cell)}, ${key(cell)}`).values()].map(
    (group, index) => group[index % group.length]!
  )

/** One service in turn for each situation and client. */
export const oneService = (cells: ReadonlyArray<Cell>): ReadonlyArray<Cell> => oneOfEach(cells, ({ client }) => client)

/** One client in turn for each situation and service. */
export const oneClient = (cells: ReadonlyArray<Cell>): ReadonlyArray<Cell> => oneOfEach(cells, ({ service }) => service)

/** Whether a cell takes a minute, because the server waits that long for a silent relay. */
export const isSlow = ({ fault, killed }: Cell): boolean =>
  fault?.operation === "send" && fault.mode === "hang" && !killed

/** How long a server waits for a provider that hangs. */
const HANG_MILLIS: Readonly<Record<ProviderFault["operation"], number>> = {
  settle: 30_000,
  send: 60_000,
  // A search is repeated once.
  search: 30_000,
  buy: 15_000,
  call: 15_000,
  update: 15_000
}

/** How long the fault of a cell lasts. */
export const faultMillis = ({ fault }: Cell): number => (fault?.mode === "hang" ? HANG_MILLIS[fault.operation] : 0)

/** The row of the report: what fails, and where the server is killed. */
export const situationOf = ({ account, fault, killed, step, twist }: Cell): string =>
  [
    ...(account === undefined ? [] : [`smart account ${account}`]),
    ...(twist === undefined ? [] : [TWISTS[twist]]),
    ...(fault === undefined || twist !== undefined ? [] : [`${fault.operation} ${fault.mode}`]),
    ...(step === undefined ? (killed ? ["killed"] : []) : [`killed at ${step}`])
  ].join(", ")

const TWISTS: Readonly<Record<Twist, string>> = {
  rejected: "rejected",
  gone: "gone",
  stranger: "refused, then submitted by a stranger",
  "front-run": "submitted by a stranger first",
  cancelled: "cancelled by its payer",
  allowed: "its allowance used by a stranger",
  outrun: "its allowance outrun by another",
  unread: "submitted by a stranger before its nonce was read",
  intercepted: "submitted by a stranger before it was presented",
  disowned: "its account taken over",
  unsent: "signed and not sent",
  forgotten: "signed, not sent, and expired",
  stolen: "signed, not sent, and submitted by a stranger",
  withdrawn: "signed, not sent, and cancelled by its payer"
}
