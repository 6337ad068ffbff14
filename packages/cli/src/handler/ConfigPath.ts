import type { Context } from "../command/Handler.ts"
import { homeFolder } from "../config/Home.ts"

export const run = ({ host, output }: Context): Promise<void> => {
  output.text(`${homeFolder(host)}\n`)
  return Promise.resolve()
}
