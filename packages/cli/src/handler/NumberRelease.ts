import type { InputOf } from "../command/Command.ts"
import type { Context } from "../command/Handler.ts"
import type { NUMBER_RELEASE } from "../command/NumberCommands.ts"
import { refuseFolderSettings } from "../config/FolderSettings.ts"
import { confirm } from "../payment/Approval.ts"
import { connectWithToken } from "../server/Connection.ts"
import { numberFields, numberIdOf } from "./NumberId.ts"

export const run = async (context: Context, input: InputOf<typeof NUMBER_RELEASE>): Promise<void> => {
  const { number } = input.arguments
  const { client, settings } = await connectWithToken(context)
  if (input.flags.yes) refuseFolderSettings(settings, ["base-url", "profile"], "Nothing was done.")
  const phoneNumberId = await numberIdOf(client, number)
  await confirm(context, `Give back ${number}, for good and without money back?`, input.flags.yes)
  const data = await client.call("releaseNumber", { payload: { phoneNumberId, confirmRelease: true } })
  context.output.record(data, numberFields(data.phoneNumber))
}
