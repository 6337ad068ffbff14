import { ERROR_STATUS, OPERATIONS } from "@agentos/api"
import { assert, describe, it } from "vitest"
import { COMMAND_TREE } from "../../src/command/Commands.ts"
import { ERROR_EXIT } from "../../src/server/ApiFailure.ts"
import { nextCommand, operationAt, ROUTES } from "../../src/server/Routes.ts"

describe("Routes", () => {
  it("match the catalog", () => {
    const place = ({ method, path, serviceId }: { method: string; path: string; serviceId: string | null }) =>
      `${method} ${path} ${serviceId}`
    for (const { entry, name } of Object.values(OPERATIONS)) assert.strictEqual(place(ROUTES[name]), place(entry))
    assert.lengthOf(Object.keys(ROUTES), Object.keys(OPERATIONS).length)
  })

  it("never retry paid operations", () => {
    for (const { entry, name } of Object.values(OPERATIONS))
      if (entry.price !== null) assert.isFalse(ROUTES[name].repeatable, name)
  })

  it("are found by path, fixed paths before paths with parameters", () => {
    assert.strictEqual(operationAt("GET", "/api/v1/phone/calls/0190/transcript"), "getTranscript")
    assert.strictEqual(operationAt("GET", "/api/v1/services"), "listServices")
    assert.strictEqual(operationAt("GET", "/api/v1/services/email.mailbox.create"), "getService")
    assert.isUndefined(operationAt("POST", "/api/v1/services"))
  })

  it("name existing commands", () => {
    for (const { command } of Object.values(ROUTES)) {
      if (command === null) continue
      const [group = "", verb = "", more = ""] = command.split(" ")
      const names = [`${group} ${verb} ${more}`, `${group} ${verb}`, group]
      assert.isTrue(
        names.some((name) => COMMAND_TREE.find(name) !== undefined),
        command
      )
    }
  })

  it("quote text of the server in the next command", () => {
    const path = "/api/v2/things?of=$(reboot)"
    const body = { name: "Ada's; reboot", count: 3, plain: "a@b.example" }
    assert.strictEqual(
      nextCommand({ method: "POST", path, body }),
      "agentctl api POST '/api/v2/things?of=$(reboot)' 'name=Ada'\\''s; reboot' count:=3 plain=a@b.example"
    )
    assert.strictEqual(nextCommand({ method: "GET; reboot", path: "/" }), "agentctl api 'GET; reboot' /")
  })

  it("map each error code of the API to an exit code", () => {
    assert.deepStrictEqual(Object.keys(ERROR_EXIT).toSorted(), Object.keys(ERROR_STATUS).toSorted())
  })
})
