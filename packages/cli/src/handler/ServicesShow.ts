import type { InputOf } from "../command/Command.ts"
import type { Context } from "../command/Handler.ts"
import type { SERVICES_SHOW } from "../command/ServiceCommands.ts"
import { plainLine } from "../output/Plain.ts"
import { accessOf } from "../server/Access.ts"
import { connect } from "../server/Connection.ts"
import { nextCommand } from "../server/NextCommand.ts"

export const run = async (context: Context, input: InputOf<typeof SERVICES_SHOW>): Promise<void> => {
  const { output } = context
  const { client } = await connect(context)
  const { service } = await client.call("getService", { params: { serviceId: input.arguments.service } })
  const { price } = service
  output.data({ service }, () =>
    [
      output.recordText([
        ["Service", service.serviceId],
        ["Purpose", service.purpose],
        ["Price", price === null ? "free" : `${price.amount} ${price.asset}`],
        ["Call", `${service.method} ${service.path}`],
        ["Access", accessOf(service)],
        ["Offered", service.available ? "yes" : "no"]
      ]),
      ...(service.inputs.length === 0 ? [] : [`\n${output.bold("INPUTS")}\n`]),
      ...service.inputs.map(
        ({ description, name, required }) =>
          `  ${plainLine(name)}${required ? " (required)" : ""}: ${plainLine(description)}\n`
      ),
      `\n${output.bold("NEXT")}\n`,
      ...(price === null
        ? []
        : [`  agentctl quote ${plainLine(service.serviceId)}  # what it costs now, and whether it would work\n`]),
      ...service.nextActions.map((next) => `  ${plainLine(nextCommand(next))}  # ${plainLine(next.why)}\n`)
    ].join("")
  )
}
