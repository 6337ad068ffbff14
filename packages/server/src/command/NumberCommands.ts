import { Failure } from "@agentos/node/command-line"
import { confirm, defineCommand, REASON_FLAG, reasonOf, runEffect } from "./ServerCommand.ts"

export const NUMBERS_LIST = defineCommand(
  {
    name: "numbers list",
    summary: "Show numbers at the carrier without a record in the database",
    description:
      "Compares the numbers that the carrier has for this deployment with the database, and shows those of no tenant and no purchase. They cost money and are kept: after a restore from a backup, they can be a tenant's. number-reconciliation reports them too. Uses the whole configuration; an embedded database has one user at a time.",
    examples: [{ line: "agentos-server numbers list", does: "After a restore from a backup" }],
    output: "rows",
    json: "{items: [{number, providerNumberId}]}"
  },
  async (context) => {
    const { Effect } = await import("effect")
    const ServerConfig = await import("../config/ServerConfig.ts")
    const { listUnrecorded } = await import("../program/Maintenance.ts")
    const items = await runEffect(context, Effect.flatMap(ServerConfig.read(context.host.env), listUnrecorded))
    context.output.table(
      { items },
      items,
      [
        { heading: "NUMBER", value: ({ number }) => number, whole: true },
        { heading: "ID AT THE CARRIER", value: ({ providerNumberId }) => providerNumberId, whole: true }
      ],
      "Every number at the carrier has a record."
    )
    if (items.length > 0) context.output.note("Release the unused ones: agentos-server numbers release NUMBER")
  }
)

const E164 = /^\+[1-9]\d{6,14}$/

export const NUMBERS_RELEASE = defineCommand(
  {
    name: "numbers release",
    summary: "Release a number without a record at the carrier",
    description:
      "Releases a number of numbers list permanently: it cannot be bought back. A number of a tenant or of a purchase is refused; tenants release their own with agentctl number release.",
    arguments: [{ name: "number", summary: "The number, such as +14155550100.", presence: "required" }],
    flags: [{ name: "yes", short: "y", type: "boolean", summary: "Release without confirmation." }, REASON_FLAG],
    examples: [{ line: "agentos-server numbers release +14155550100", does: "Stop paying for an unused number" }],
    output: "record",
    json: "{number}",
    exits: [2, 5, 6]
  },
  async (context, { arguments: { number }, flags: { reason, yes } }) => {
    if (!E164.test(number)) {
      throw new Failure({ code: "USAGE", message: `NUMBER must begin with + and the country code: ${number}` })
    }
    const given = await reasonOf(reason)
    await confirm(context, yes, `Release ${number} permanently? [y/N] `, "Cancelled. Nothing was released.")
    const { Effect } = await import("effect")
    const ServerConfig = await import("../config/ServerConfig.ts")
    const { releaseNumber } = await import("../program/Maintenance.ts")
    const { NumberNotUnrecorded } = await import("@agentos/core")
    await runEffect(
      context,
      Effect.flatMap(ServerConfig.read(context.host.env), (config) => releaseNumber(config, number, given)),
      (error) => {
        if (!(error instanceof NumberNotUnrecorded)) return undefined
        return error.reason === "recorded"
          ? new Failure({
              code: "EXISTS",
              message: `${number} belongs to a tenant or a purchase. Nothing was released.`
            })
          : new Failure({
              code: "NOT_FOUND",
              message: `${number} is not one of this deployment's numbers at the carrier.`,
              next: ["agentos-server numbers list"]
            })
      }
    )
    context.output.record({ number }, [
      ["Number", number],
      ["State", "released"]
    ])
  }
)
