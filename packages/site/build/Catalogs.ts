import {
  ERROR_PAYMENT_STATES,
  ERROR_RECOVERY,
  ERROR_STATUS,
  errorCodesOf,
  errorExample,
  EVENT_EXAMPLES,
  OPERATIONS
} from "@agentos/api"
import {
  CALL_TRANSITIONS,
  ErrorCode,
  EventMachine,
  eventName,
  EventType,
  NUMBER_TRANSITIONS,
  OPERATION_TRANSITIONS,
  type OperationState,
  PAYMENT_STATES,
  type PaymentState,
  RECIPIENT_TRANSITIONS,
  Usdt
} from "@agentos/core"
import { documented } from "./Contract.ts"
import { code, json, type Page, paragraphs, table } from "./Page.ts"
import { recordDescription, recordFields } from "./Records.ts"
import { pathOf } from "./Reference.ts"

/** The listed service of which an operation without a service id is another form. */
const OTHER_FORMS: Readonly<Record<string, string>> = {
  getService: "discovery.services",
  replayEvents: "events.list",
  acknowledgeEventById: "events.ack"
}

/** Returns why some operations are not in the list of services. Throws for one without a reason. */
const withoutService = (): string => {
  const forms = documented().flatMap((operation) => {
    const { operationId, serviceId } = operation.entry
    if (serviceId !== null) return []
    const service = OTHER_FORMS[operationId]
    if (service === undefined)
      throw new Error(`${operationId} has no service id. Name the service that it is a form of.`)
    return [`[\`${operationId}\`](${pathOf(operation)}) (of \`${service}\`)`]
  })
  return `An operation without a service id is another form of a listed service, so it is not in that list: ${forms.join(", ")}.`
}

const servicesPage = (): Page => ({
  slug: "reference/services",
  title: "Services and prices",
  description: "Every operation with its price, path and authentication.",
  markdown: paragraphs(
    "`GET /api/v1/services` returns the same as data, and says which services this server offers.",
    withoutService(),
    table(
      ["Price in USDT", "Call", "Authentication", "Service"],
      documented().map((operation) => {
        const { authentication, method, path, price, serviceId } = operation.entry
        return [
          price === null ? "free" : Usdt.toDecimal(price),
          `[\`${method} ${path}\`](${pathOf(operation)})`,
          authentication,
          serviceId === null ? "" : `\`${serviceId}\``
        ]
      })
    )
  )
})

/** Whether money moved, by the state of the payment. */
const MONEY: Readonly<Record<PaymentState, string>> = {
  none: "no",
  pending: "not known yet: do not pay again",
  unknown: "not known: repeat the identical request, and do not pay again",
  settled: "yes: repeat the identical request for its result",
  refund_due: "yes, and the refund is under way",
  refunded: "yes, and it was returned"
}

const moneyOf = (states: ReadonlyArray<PaymentState>): string =>
  states.every((state) => state === "none")
    ? "No money moved."
    : `\`error.paymentState\` says whether money moved: ${states.map((state) => `\`${state}\` (${MONEY[state]})`).join(", ")}.`

const errorsPage = (): Page => ({
  slug: "reference/errors",
  title: "Error codes",
  description: "Every error code with its status, what to do, whether money moved, and the operations that return it.",
  markdown: paragraphs(
    "[Errors](/docs/errors) describes the envelope and how to recover. Each code has its status, what to do, and whether money moved. A free operation moves no money, and its errors have no `error.paymentState`.",
    ...ErrorCode.literals.map((each) => {
      const named = documented().filter(({ entry }) => entry.errors.includes(each))
      const first = documented().find(({ entry }) => errorCodesOf(entry).has(each))
      return paragraphs(
        `## ${each}`,
        `**${ERROR_STATUS[each]}.** ${ERROR_RECOVERY[each]}`,
        moneyOf(ERROR_PAYMENT_STATES[each]),
        named.length === 0 || named.length > 20
          ? ""
          : `Returned by ${named.map((operation) => `[\`${operation.operationId}\`](${pathOf(operation)})`).join(", ")}.`,
        first === undefined ? "" : json(errorExample(each, OPERATIONS[first.entry.operationId]))
      )
    })
  )
})

const eventsPage = (): Page => ({
  slug: "reference/events",
  title: "Event types",
  description: "Every event type: when it occurs and the fields of its payload.",
  markdown: paragraphs(
    "[Events](/docs/events) describes delivery and acknowledgement. The tables list the fields of each payload, which also has `type` and `eventId`. `source` of an event is the provider that reported it, or `agentos.internal` for a state transition of this service.",
    ...EventType.literals.map((type) => {
      const name = eventName(type)
      return paragraphs(
        `## ${type}`,
        recordDescription(`${name}Event`),
        recordFields(`${name}Payload`, ["type", "eventId"]),
        json(EVENT_EXAMPLES[type])
      )
    })
  )
})

/** The moves of a table, one a row. */
interface Machine {
  readonly heading: string
  readonly text: string
  readonly start: string
  readonly moves: ReadonlyArray<readonly [from: string, move: string, to: string]>
  readonly meanings?: Readonly<Record<string, string>>
}

const movesOf = (
  transitions: Readonly<Record<string, Readonly<Record<string, string | undefined>>>>
): Machine["moves"] =>
  Object.entries(transitions).flatMap(([from, moves]) =>
    Object.entries(moves).flatMap(([move, to]) => (to === undefined ? [] : [[from, move, to] as const]))
  )

const MEANINGS: Readonly<Record<OperationState, string>> = {
  claimed: "The payment and the key are reserved. Nobody outside has seen the authorization.",
  settling: "The authorization was submitted, or is about to be. The outcome may be unknown.",
  settled: "The chain shows the transfer.",
  fulfilling: "The provider is called.",
  fulfilled: "The service was delivered. The answer is stored.",
  refused: "The authorization was rejected, but others could still submit it.",
  unpaid: "The chain proves that this payment moved no money to the service.",
  refund_due: "The payment arrived, and nothing was delivered. The refund is under way.",
  refunded: "The chain shows the refund."
}

const MACHINES: ReadonlyArray<Machine> = [
  {
    heading: "Paid operations",
    text: "A paid operation only moves forward. `fulfilled`, `unpaid` and `refunded` are final.",
    start: "claimed",
    moves: movesOf(OPERATION_TRANSITIONS),
    meanings: MEANINGS
  },
  {
    heading: "Events",
    text: "An event is delivered until it is acknowledged, expires or fails. Acknowledging is idempotent.",
    start: "pending",
    moves: movesOf(EventMachine.EVENT_TRANSITIONS)
  },
  {
    heading: "Numbers",
    text: "`status` also has the value `expiring`: an active number with 5 days or less left.",
    start: "active",
    moves: movesOf(NUMBER_TRANSITIONS)
  },
  {
    heading: "Calls",
    text: "A call skips states that the carrier did not report.",
    start: "queued",
    moves: movesOf(CALL_TRANSITIONS)
  },
  {
    heading: "Recipients of a message",
    text: "The relay accepts, defers or refuses a recipient; reports from other servers follow. A delivered mail may still bounce.",
    start: "queued",
    moves: movesOf(RECIPIENT_TRANSITIONS)
  }
]

/** The diagram has one arrow between two states. Moves from a state to itself are in the table only. */
const stateDiagram = ({ moves, start }: Machine): string => {
  const arrows = new Set(moves.filter(([from, , to]) => from !== to).map(([from, , to]) => `  ${from} --> ${to}`))
  return ["stateDiagram-v2", `  [*] --> ${start}`, ...arrows].join("\n")
}

const machineSection = (machine: Machine): string =>
  paragraphs(
    `## ${machine.heading}`,
    machine.text,
    code(`mermaid title="States and transitions: ${machine.heading.toLowerCase()}"`, stateDiagram(machine)),
    table(
      ["From", "Transition", "To"],
      machine.moves.map((cells) => cells.map((each, index) => (index === 1 ? each : `\`${each}\``)))
    ),
    machine.meanings === undefined
      ? ""
      : table(
          ["State", "Meaning", "`paymentState`"],
          Object.entries(machine.meanings).map(([state, meaning]) => [
            `\`${state}\``,
            meaning,
            `\`${PAYMENT_STATES[state as OperationState]}\``
          ])
        )
  )

const statesPage = (): Page => ({
  slug: "reference/states",
  title: "States",
  description: "The states of operations, events, numbers, calls and recipients, with every allowed transition.",
  markdown: paragraphs(
    "These tables and diagrams are generated from the tables that the server runs.",
    ...MACHINES.map(machineSection)
  )
})

/** Returns the pages that list the tables of the code. */
export const catalogPages = (): ReadonlyArray<Page> => [servicesPage(), eventsPage(), errorsPage(), statesPage()]
