import { defineCommand } from "./Command.ts"

export const LOGIN = defineCommand({
  name: "login",
  summary: "Save an access token in this profile",
  description:
    "Reads the token from standard input, a prompt, or AGENTOS_TOKEN, and checks it with the server before it is saved.\nThe first purchase saves the token by itself; this is for a token from elsewhere. It is sent to this server alone.",
  arguments: [],
  flags: [],
  examples: [{ line: "agentctl login < token.txt", does: "Takes the token from a file" }],
  output: "record",
  json: "{profile, baseUrl, loggedIn}",
  exits: [2, 4, 9]
})

export const LOGOUT = defineCommand({
  name: "logout",
  summary: "Forget the access token of this profile",
  description: "The token stays valid; it is only no longer on this machine. Buying again gives the same token back.",
  arguments: [],
  flags: [],
  examples: [{ line: "agentctl logout --profile staging", does: "Forgets the token of one profile" }],
  output: "record",
  json: "{profile, baseUrl, loggedIn}",
  exits: []
})

export const WHOAMI = defineCommand({
  name: "whoami",
  summary: "Show profile, server, wallet, and whether the token works",
  description: "Says where each of them comes from. The token itself is not shown.",
  arguments: [],
  flags: [],
  examples: [{ line: "agentctl whoami --json", does: "The same for a program" }],
  output: "record",
  json: "{profile, baseUrl, server, token, wallet}",
  exits: [4, 9]
})
