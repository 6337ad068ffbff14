import type { SalesAdministration, SalesStopReport } from "@agentos/core"
import { Failure } from "@agentos/node/command-line"
import type { Effect as Effects } from "effect"
import type { CommandMutation } from "../program/Maintenance.ts"
import {
  confirm,
  defineCommand,
  onDatabase,
  REASON_FLAG,
  reasonOf,
  type ServerCommandContext,
  shownTime
} from "./ServerCommand.ts"

const STOPS = "stops: [{service, at, reason}]"

const SERVICE = {
  name: "service",
  summary: "Id of a paid service, for example email.message.send. Without it: all services.",
  presence: "optional"
} as const

const NEEDS = "Works on the database, beside servers on PostgreSQL; an embedded database has one user at a time."

/** Runs an effect on the stopped sales of the configured database. */
const onSales = async <A>(
  context: ServerCommandContext,
  use: (sales: SalesAdministration["Service"]) => Effects.Effect<A, unknown>,
  mutation?: CommandMutation
): Promise<A> => {
  const { Effect } = await import("effect")
  return onDatabase(context, (core) => Effect.flatMap(core.SalesAdministration, use), mutation)
}

/** Returns the scope that a command names. */
const scopeOf = async (service = "all") => {
  const { SalesScope } = await import("@agentos/core")
  const scope = SalesScope.literals.find((known) => known === service)
  if (scope !== undefined) return scope
  const ids = SalesScope.literals.filter((known) => known !== "all").join(", ")
  throw new Failure({
    code: "USAGE",
    message: `SERVICE is not the id of a paid service: ${service}. Use one of ${ids}.`
  })
}

const named = (scope: string): string => (scope === "all" ? "all services" : scope)

const show = ({ output }: ServerCommandContext, data: unknown, stops: ReadonlyArray<SalesStopReport>): void =>
  output.table(
    data,
    stops,
    [
      { heading: "STOPPED", value: ({ service }) => service, whole: true },
      {
        heading: "SINCE",
        value: ({ at }) => at,
        shown: ({ at }) => shownTime(at),
        whole: true
      },
      { heading: "REASON", value: ({ reason }) => reason }
    ],
    "Everything is on sale."
  )

export const SELL_STATUS = defineCommand(
  {
    name: "sell status",
    summary: "Show which sales are stopped",
    description: `Shows the services whose sale is stopped, since when and why. ${NEEDS}`,
    arguments: [],
    flags: [],
    examples: [{ line: "agentos-server sell status", does: "See what customers can't buy" }],
    output: "rows",
    json: `{${STOPS}}`,
    exits: []
  },
  async (context) => {
    const stops = await onSales(context, ({ list }) => list)
    show(context, { stops }, stops)
  }
)

export const SELL_STOP = defineCommand(
  {
    name: "sell stop",
    summary: "Stop the sale of a service, or of all",
    description: `Lets every server refuse new purchases within 5 s, before anything is charged. Reads, inbound mail, events, refunds and operations that are already paid go on. Stopping again changes the reason. ${NEEDS}`,
    arguments: [SERVICE],
    flags: [
      {
        name: "reason",
        type: "text",
        value: "TEXT",
        summary: "Required. Shown to customers: a line of up to 200 characters."
      },
      { name: "yes", short: "y", type: "boolean", summary: "Stop without confirmation." }
    ],
    examples: [
      {
        line: 'agentos-server sell stop phone.number.us.30d --reason "Our carrier has an outage."',
        does: "While the carrier has no numbers"
      },
      { line: 'agentos-server sell stop --reason "Maintenance until 14:00 UTC."', does: "Before maintenance" }
    ],
    output: "rows",
    json: `{${STOPS}}`,
    exits: [2]
  },
  async (context, { arguments: { service }, flags: { reason, yes } }) => {
    const { Schema } = await import("effect")
    const { SALES_STOP_REASON_LIMIT, StopSalesInput } = await import("@agentos/core")
    const scope = await scopeOf(service)
    const input = { service: scope, reason: reason ?? "" }
    if (!Schema.is(StopSalesInput)(input)) {
      throw new Failure({
        code: "USAGE",
        message: `--reason must be a line of text of at most ${SALES_STOP_REASON_LIMIT} characters. Customers see it.`
      })
    }
    await confirm(context, yes, `Stop the sale of ${named(scope)}? [y/N] `, "Cancelled. Nothing was changed.")
    const stops = await onSales(context, ({ stop }) => stop(scope, input.reason), {
      action: "sales.stop",
      target: scope,
      reason: input.reason
    })
    show(context, { stops }, stops)
  }
)

export const SELL_START = defineCommand(
  {
    name: "sell start",
    summary: "Sell a service again, or all",
    description: `Ends the stop of a service. Without a service, ends the stop of all services; stops of single services stay. ${NEEDS}`,
    arguments: [SERVICE],
    flags: [REASON_FLAG],
    examples: [{ line: "agentos-server sell start phone.number.us.30d", does: "After the carrier's outage" }],
    output: "rows",
    json: `{started, ${STOPS}}`,
    exits: []
  },
  async (context, { arguments: { service }, flags: { reason } }) => {
    const scope = await scopeOf(service)
    const mutation = { action: "sales.start", target: scope, reason: await reasonOf(reason) }
    const result = await onSales(context, ({ start }) => start(scope), mutation)
    if (!result.started) context.output.note(`The sale of ${named(scope)} was not stopped.`)
    show(context, result, result.stops)
  }
)
