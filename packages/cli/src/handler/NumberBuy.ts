import type { InputOf } from "../command/Command.ts"
import type { Context } from "../command/Handler.ts"
import type { NUMBER_BUY } from "../command/NumberCommands.ts"
import { pay } from "../payment/Payment.ts"
import { secretFields } from "./CallbackSecret.ts"
import { given, needed } from "./Given.ts"
import { numberFields } from "./NumberId.ts"
import { notePayment, noteToken, withPayment } from "./PaidOutput.ts"

export const run = async (context: Context, input: InputOf<typeof NUMBER_BUY>): Promise<void> => {
  const { flags } = input
  const { country } = input.arguments
  const place = country === "us" ? "a number in the United States" : "a number in Canada"
  const area = flags["area-code"] === undefined ? "" : ` with the area code ${flags["area-code"]}`
  const { data, entry } = await pay(
    context,
    {
      operation: country === "us" ? "purchaseUsNumber" : "purchaseCanadaNumber",
      payload: {
        agentName: needed(flags["agent-name"], "agent-name", "number buy"),
        agentWebhookUrl: needed(flags.webhook, "webhook", "number buy"),
        ...given({
          areaCode: flags["area-code"],
          description: flags.description,
          beginMessage: flags.greeting,
          voice: flags.voice,
          language: flags.language
        })
      },
      what: `${place}${area} for 30 days`
    },
    flags
  )
  context.output.record(withPayment(data, entry), [
    ...numberFields(data.phoneNumber),
    ...secretFields(context, data, entry.id)
  ])
  notePayment(context, entry)
  noteToken(context, entry)
}
