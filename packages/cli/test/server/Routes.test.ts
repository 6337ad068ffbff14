import { ERROR_STATUS, OPERATIONS } from "@agentos/api"
import { assert, describe, it } from "vitest"
import { ERROR_EXIT } from "../../src/failure/ErrorExit.ts"
import { nextCommand } from "../../src/server/NextCommand.ts"
import { operationAt, ROUTES } from "../../src/server/Routes.ts"

describe("Routes", () => {
  it("has each operation where the catalog has it", () => {
    const place = ({ method, path, serviceId }: { method: string; path: string; serviceId: string | null }) =>
      `${method} ${path} ${serviceId}`
    for (const { entry, name } of Object.values(OPERATIONS)) assert.strictEqual(place(ROUTES[name]), place(entry))
    assert.lengthOf(Object.keys(ROUTES), Object.keys(OPERATIONS).length)
  })

  it("sends nothing again that costs something", () => {
    for (const { entry, name } of Object.values(OPERATIONS))
      if (entry.price !== null) assert.isFalse(ROUTES[name].repeatable, name)
  })

  it("finds an operation by its path, a fixed one before one with parameters", () => {
    assert.strictEqual(operationAt("GET", "/api/v1/phone/calls/0190/transcript"), "getTranscript")
    assert.strictEqual(operationAt("GET", "/api/v1/services"), "listServices")
    assert.strictEqual(operationAt("GET", "/api/v1/services/email.mailbox.create"), "getService")
    assert.isUndefined(operationAt("POST", "/api/v1/services"))
  })

  it("gives a shell nothing else to run than what is to be called next", () => {
    const path = "/api/v2/things?of=$(reboot)"
    const body = { name: "Ada's; reboot", count: 3, plain: "a@b.example" }
    assert.strictEqual(
      nextCommand({ method: "POST", path, body }),
      "agentctl api POST '/api/v2/things?of=$(reboot)' 'name=Ada'\\''s; reboot' count:=3 plain=a@b.example"
    )
    assert.strictEqual(nextCommand({ method: "GET; reboot", path: "/" }), "agentctl api 'GET; reboot' /")
  })

  it("gives each error code of the API an exit code", () => {
    assert.deepStrictEqual(Object.keys(ERROR_EXIT).toSorted(), Object.keys(ERROR_STATUS).toSorted())
  })
})
