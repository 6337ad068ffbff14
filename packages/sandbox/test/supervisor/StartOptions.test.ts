import { resolve } from "node:path"
import { describe, expect, it } from "vitest"
import { defaultDataDir, readStartOptions, readTourOptions } from "../../src/supervisor/StartOptions.ts"

describe("the options of start", () => {
  it("have defaults", () => {
    expect(readStartOptions([], {})).toEqual({
      _tag: "Run",
      options: {
        tour: true,
        port: undefined,
        servers: 1,
        networks: 2,
        databaseUrl: undefined,
        allowWebhook: undefined,
        dataDir: defaultDataDir
      }
    })
  })

  it.each([
    ["as separate arguments", ["--no-tour", "--port", "0", "--servers", "8", "--networks", "1", "--data", "here"]],
    ["joined by =", ["--no-tour", "--port=0", "--servers=8", "--networks=1", "--data=here"]],
    [
      "after the -- of a package runner",
      ["--", "--no-tour", "--port", "0", "--servers", "8", "--networks", "1", "--data", "here"]
    ]
  ])("are read %s", (_name, args) => {
    expect(readStartOptions(args, {})).toEqual({
      _tag: "Run",
      options: {
        tour: false,
        port: 0,
        servers: 8,
        networks: 1,
        databaseUrl: undefined,
        allowWebhook: undefined,
        dataDir: resolve("here")
      }
    })
  })

  it.each([
    ["postgres://here/db", ["--database-url", "postgres://here/db"], {}],
    ["postgres://there/db", [], { DATABASE_URL: " postgres://there/db " }],
    ["postgresql://here/db", ["--database-url=postgresql://here/db"], { DATABASE_URL: "postgres://there/db" }],
    [undefined, [], { DATABASE_URL: " " }]
  ])("select the database %s", (databaseUrl, args, environment) => {
    expect(readStartOptions(args, environment)).toMatchObject({ _tag: "Run", options: { databaseUrl } })
  })

  it("do not show an invalid database URL, which may contain a password", () => {
    const read = readStartOptions(["--database-url", "mysql://me:secret@here/db"], {})
    expect(read).toEqual({ _tag: "UsageError", message: expect.not.stringContaining("secret") })
  })

  it.each([
    ["127.0.0.1:9443", "127.0.0.1", 9443],
    ["127.8.8.8:1", "127.8.8.8", 1],
    ["localhost:443", "localhost", 443],
    ["LOCALHOST:65535", "localhost", 65_535],
    ["[::1]:9443", "::1", 9443],
    ["[0:0:0:0:0:0:0:1]:9443", "::1", 9443]
  ])("allow an agent at %s", (address, host, port) => {
    const caFile = resolve("here/ca.pem")
    for (const args of [
      ["--allow-webhook", address, "--allow-webhook-ca", "here/ca.pem"],
      [`--allow-webhook-ca=${caFile}`, `--allow-webhook=${address}`]
    ]) {
      expect(readStartOptions(args, {})).toMatchObject({ options: { allowWebhook: { host, port, caFile } } })
    }
  })

  const invalidAddresses = [
    "",
    "127.0.0.1",
    "127.0.0.1:",
    "127.0.0.1:0",
    "127.0.0.1:65536",
    "127.1:9443",
    "::1:9443",
    "[127.0.0.1]:9443",
    "[::1]",
    "[::2]:9443",
    "10.0.0.1:9443",
    "93.184.216.34:443",
    "agent.localhost:9443",
    "example.com:443",
    "https://127.0.0.1:9443",
    "127.0.0.1:9443/"
  ]
  it.each<ReadonlyArray<string>>([
    ["--allow-webhook", "127.0.0.1:9443"],
    ["--allow-webhook-ca", "ca.pem"],
    ["--allow-webhook", "127.0.0.1:9443", "--allow-webhook-ca", ""],
    ...invalidAddresses.map((address) => [`--allow-webhook=${address}`, "--allow-webhook-ca", "ca.pem"])
  ])("reject an agent with another address or without its certificate: %s %s %s", (...args) => {
    expect(readStartOptions(args, {})).toEqual({
      _tag: "UsageError",
      message: expect.stringMatching(/^--allow-webhook/)
    })
  })

  it("are ignored with --help", () => {
    expect(readStartOptions(["--port", "9", "--help"], {})).toEqual({ _tag: "Help" })
    expect(readTourOptions(["-h"])).toEqual({ _tag: "Help" })
  })

  it.each([
    [["--tour"]],
    [["here"]],
    [["--", "--", "--no-tour"]],
    [["--port"]],
    [["--port", ""]],
    [["--port", "65536"]],
    [["--port", "-1"]],
    [["--port", "1e3"]],
    [["--no-tour=yes"]],
    [["--servers"]],
    [["--servers", "0"]],
    [["--servers", "9"]],
    [["--servers", "two"]],
    [["--servers", "1.5"]],
    [["--networks", "0"]],
    [["--networks", "4"]],
    [["--database-url"]],
    [["--database-url", ""]],
    [["--database-url", "here"]],
    [["--data", ""]],
    [["--data"]]
  ])("are rejected if invalid: %j", (args) => {
    const { _tag, ...rest } = readStartOptions(args, {})
    expect(_tag).toBe("UsageError")
    expect(rest).toEqual({ message: expect.stringMatching(/\w/) })
  })
})

describe("the options of tour", () => {
  it("consist of the data directory", () => {
    expect(readTourOptions(["--data", "here"])).toEqual({ _tag: "Run", options: { dataDir: resolve("here") } })
    expect(readTourOptions([])).toEqual({ _tag: "Run", options: { dataDir: defaultDataDir } })
    expect(readTourOptions(["--port", "0"])._tag).toBe("UsageError")
  })
})
