import { spawn } from "node:child_process"
import { once } from "node:events"
import { fileURLToPath } from "node:url"
import { expect, it, onTestFinished, vi } from "vitest"

const main = fileURLToPath(new URL("../src/main.ts", import.meta.url))

it("serves the core over its own HTTP interface", async () => {
  const child = spawn(process.execPath, [main], { stdio: ["ignore", "pipe", "inherit"] })
  onTestFinished(() => void child.kill("SIGKILL"))
  const [line] = (await once(child.stdout, "data")) as [Buffer]
  const url = /http:\S+/.exec(line.toString())?.[0] ?? ""
  const post = (path: string, body: object) => fetch(url + path, { method: "POST", body: JSON.stringify(body) })

  const bought = await post("/mailboxes", { localPart: "lab" })
  expect(bought.status).toBe(201)
  const { authentication } = (await bought.json()) as { authentication: { accessToken: string } }

  const mail = { id: "1@house.test", from: "boss@house.test", to: ["lab@house.test"], subject: "News", text: "Good." }
  expect((await post("/mail", mail)).status).toBe(202)
  expect((await post("/mail", { ...mail, to: ["unknown@house.test"] })).status).toBe(404)
  await vi.waitFor(
    async () => {
      const headers = { authorization: `Bearer ${authentication.accessToken}` }
      const events = (await (await fetch(`${url}/events`, { headers })).json()) as ReadonlyArray<{ type: string }>
      expect(events.map(({ type }) => type)).toContain("email.received")
    },
    { timeout: 20_000 }
  )

  child.kill("SIGINT")
  expect(await once(child, "exit")).toEqual([0, null])
})
