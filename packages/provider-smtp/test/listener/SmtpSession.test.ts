import { describe, expect, it } from "vitest"
import { DEFAULT_SMTP_LIMITS } from "../../src/listener/SmtpLimits.ts"
import { SmtpSession } from "../../src/listener/SmtpSession.ts"

describe("the cached result of a recipient lookup", () => {
  it("expires after 5 seconds", () => {
    let now = 0
    const session = new SmtpSession(DEFAULT_SMTP_LIMITS, () => now)
    session.keepVerdict("ada", "too much mail")
    now = 5_000
    expect(session.verdictOn("ada")).toBe("too much mail")
    now = 5_001
    expect(session.verdictOn("ada")).toBeUndefined()
  })
})
