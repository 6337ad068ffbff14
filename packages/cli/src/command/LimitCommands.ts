import { timeColumn } from "../output/Wording.ts"
import { defineCommand } from "./Command.ts"
import { clientOf } from "./Resources.ts"

const numberOf = (count: number | null, missing: string): string => count?.toLocaleString("en-US") ?? missing

export const LIMITS = defineCommand(
  {
    name: "limits",
    summary: "Show your quotas of mail and calls, and how much of each is used",
    description:
      "A request above a limit is refused before anything is charged. What an agent may spend is limited by agentctl budget instead.",
    examples: [{ line: "agentctl limits", does: "See how many recipients are left today" }],
    output: "rows",
    json: "{items: [limit], sendingPause, callableCountries}",
    exits: [4]
  },
  async (context) => {
    const data = await (await clientOf(context)).call("listLimits")
    context.output.table(
      data,
      data.items,
      [
        { heading: "LIMIT", value: ({ name }) => name, whole: true },
        { heading: "FOR", value: ({ scope }) => scope, drop: 1 },
        { heading: "USED", value: ({ used }) => used, shown: ({ used }) => numberOf(used, "-"), whole: true },
        { heading: "OF", value: ({ limit }) => limit, shown: ({ limit }) => numberOf(limit, "no limit"), whole: true },
        timeColumn("RESETS", ({ resetsAt }) => resetsAt, 2)
      ],
      "No limits."
    )
  }
)
