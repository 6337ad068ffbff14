import type { SalesAdministration, SalesStopReport } from "@agentos/core"
import { Failure, type FlagSpec } from "@agentos/node/command-line"
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

const STOPS = "stops: [{service or network, at, reason}]"

const SERVICE = {
  name: "service",
  summary: "Id of a paid service, for example email.message.send. Without it and the flags below: all services.",
  presence: "optional"
} as const

const SCOPE_FLAGS = [
  {
    name: "network",
    type: "text",
    value: "NETWORK",
    summary: "Instead of a service: payments on this network, by its CAIP-2 id, for example eip155:56."
  },
  {
    name: "country",
    type: "text",
    value: "COUNTRY",
    summary: "Instead of a service: the one that sells numbers of this country, US or CA."
  }
] as const satisfies ReadonlyArray<FlagSpec>

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
const namedScope = async (
  service: string | undefined,
  { country, network }: { readonly country: string | undefined; readonly network: string | undefined }
) => {
  const [{ scopeOf, StartSalesInput, StoppedService }, { Option, Schema }] = await Promise.all([
    import("@agentos/core"),
    import("effect")
  ])
  const given = Object.entries({ service, network, country: country?.toUpperCase() })
  const named = given.filter(([, value]) => value !== undefined)
  const input = Schema.decodeUnknownOption(StartSalesInput)(Object.fromEntries(named))
  if (Option.isSome(input)) return scopeOf(input.value)
  const ids = StoppedService.literals.filter((known) => known !== "all").join(", ")
  const message =
    named.length > 1
      ? "Name only one of SERVICE, --network and --country."
      : network !== undefined
        ? `--network is not a CAIP-2 id: ${network}. An example is eip155:56.`
        : country !== undefined
          ? `--country is not one of which numbers are sold: ${country}. Use US or CA.`
          : `SERVICE is not the id of a paid service: ${service}. Use one of ${ids}.`
  throw new Failure({ code: "USAGE", message })
}

/** Refuses a network that is not configured, if the command has the configuration of networks. */
const requireConfigured = async ({ host }: ServerCommandContext, network: string): Promise<void> => {
  const [{ EnvironmentReader }, { readNetworks }] = await Promise.all([
    import("../config/EnvironmentReader.ts"),
    import("../config/NetworkConfig.ts")
  ])
  const known = readNetworks(new EnvironmentReader(host.env)).map((each) => each.network)
  if (known.length === 0 || known.includes(network)) return
  const list = [...new Set(known)].join(", ")
  throw new Failure({ code: "USAGE", message: `--network is not in AGENTOS_NETWORKS: ${network}. Use one of ${list}.` })
}

const saleOf = (scope: string): string =>
  scope.includes(":") ? `payments on ${scope}` : `the sale of ${scope === "all" ? "all services" : scope}`

const show = ({ output }: ServerCommandContext, data: unknown, stops: ReadonlyArray<SalesStopReport>): void =>
  output.table(
    data,
    stops,
    [
      { heading: "STOPPED", value: ({ network, service }) => network ?? service ?? "", whole: true },
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
    description: `Shows the services and networks whose sale is stopped, since when and why. ${NEEDS}`,
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
    summary: "Stop the sale of a service or of all, or payments on a network",
    description: `Lets every server refuse new purchases within 5 s, before anything is charged. Reads, inbound mail, events, refunds and operations that are already paid go on. With --network, challenges leave the network out, and payments on it are refused; customers pay on the others. --country stops the service that sells numbers of the country: customers keep, renew and call with the numbers that they have. Stopping again changes the reason. ${NEEDS}`,
    arguments: [SERVICE],
    flags: [
      ...SCOPE_FLAGS,
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
      {
        line: 'agentos-server sell stop --network eip155:56 --reason "The chain has halted."',
        does: "While a chain halts"
      },
      { line: 'agentos-server sell stop --reason "Maintenance until 14:00 UTC."', does: "Before maintenance" }
    ],
    output: "rows",
    json: `{${STOPS}}`,
    exits: [2]
  },
  async (context, { arguments: { service }, flags: { country, network, reason, yes } }) => {
    const { Schema } = await import("effect")
    const { SALES_STOP_REASON_LIMIT, StopSalesInput } = await import("@agentos/core")
    const scope = await namedScope(service, { country, network })
    if (network !== undefined) await requireConfigured(context, network)
    const input = { reason: reason ?? "" }
    if (!Schema.is(StopSalesInput)(input)) {
      throw new Failure({
        code: "USAGE",
        message: `--reason must be a line of text of at most ${SALES_STOP_REASON_LIMIT} characters. Customers see it.`
      })
    }
    await confirm(context, yes, `Stop ${saleOf(scope)}? [y/N] `, "Cancelled. Nothing was changed.")
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
    summary: "Sell a service again, or all, or on a network",
    description: `Ends the stop of a service, or of payments on a network. Without either, ends the stop of all services; other stops stay. ${NEEDS}`,
    arguments: [SERVICE],
    flags: [...SCOPE_FLAGS, REASON_FLAG],
    examples: [{ line: "agentos-server sell start phone.number.us.30d", does: "After the carrier's outage" }],
    output: "rows",
    json: `{started, ${STOPS}}`,
    exits: []
  },
  async (context, { arguments: { service }, flags: { country, network, reason } }) => {
    const scope = await namedScope(service, { country, network })
    const mutation = { action: "sales.start", target: scope, reason: await reasonOf(reason) }
    const result = await onSales(context, ({ start }) => start(scope), mutation)
    if (!result.started) context.output.note(`${saleOf(scope).replace("the", "The")} was not stopped.`)
    show(context, result, result.stops)
  }
)
