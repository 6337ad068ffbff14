import { expect, it } from "vitest"
import { makeRequestLog } from "../../src/carrier/RequestLog.ts"

it("removes the oldest requests, and counts them", () => {
  const requestLog = makeRequestLog()
  const request = (path: string) => requestLog.request({ method: "GET", path, query: {} })
  for (let index = 0; index < 10_000; index++) request(`/${index}`)
  expect(requestLog.forgottenRequests()).toBe(0)
  request("/last")
  expect(requestLog.forgottenRequests()).toBe(1)
  expect(requestLog.requests()).toHaveLength(10_000)
  expect([requestLog.requests()[0]?.path, requestLog.requests().at(-1)?.path]).toEqual(["/1", "/last"])
})
