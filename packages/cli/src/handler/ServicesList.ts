import type { Context } from "../command/Handler.ts"
import type { InputOf } from "../command/Command.ts"
import type { SERVICES_LIST } from "../command/ServiceCommands.ts"
import { accessOf } from "../server/Access.ts"
import { connect } from "../server/Connection.ts"

export const run = async (context: Context, { flags }: InputOf<typeof SERVICES_LIST>): Promise<void> => {
  const { client } = await connect(context)
  const { items } = await client.call("listServices")
  const shown = items.filter((item) => (!flags.available || item.available) && (!flags.paid || item.price !== null))
  context.output.table(
    { items: shown },
    shown,
    [
      { heading: "SERVICE", value: ({ serviceId }) => serviceId, whole: true },
      {
        heading: "PRICE",
        value: ({ price }) => (price === null ? "free" : `${price.amount} ${price.asset}`),
        whole: true
      },
      { heading: "ACCESS", value: accessOf, whole: true },
      { heading: "OFFERED", value: ({ available }) => (available ? "yes" : "no"), whole: true },
      { heading: "PURPOSE", value: ({ purpose }) => purpose }
    ],
    "No service fits."
  )
}
