import { HonestClient, type HonestClientOptions } from "./HonestClient.ts"

/** An honest client in a process of its own, so that the load of the process that started it delays no measurement. */
const client = new HonestClient(JSON.parse(process.argv[2] ?? "") as HonestClientOptions)

process.on("message", (order: "reset" | "finish") => {
  if (order === "reset") return client.reset()
  void client.finish().then(() => process.send!(client.report(), () => process.exit(0)))
})
process.once("disconnect", () => process.exit(1))
await client.start()
process.send!("ready")
