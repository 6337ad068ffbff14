import { expect, it } from "vitest"
import { makeJournal } from "../../src/carrier/Journal.ts"

it("removes the oldest requests, and counts them", () => {
  const journal = makeJournal()
  const request = (path: string) => journal.request({ method: "GET", path, query: {} })
  for (let index = 0; index < 10_000; index++) request(`/${index}`)
  expect(journal.forgottenRequests()).toBe(0)
  request("/last")
  expect(journal.forgottenRequests()).toBe(1)
  expect(journal.requests()).toHaveLength(10_000)
  expect([journal.requests()[0]?.path, journal.requests().at(-1)?.path]).toEqual(["/1", "/last"])
})
