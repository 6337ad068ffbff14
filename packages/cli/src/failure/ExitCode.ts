/** What the exit code of a command means. Scripts go by them, so they never change. */
export const EXIT = {
  ok: 0,
  failure: 1,
  cancelled: 2,
  usage: 3,
  authentication: 4,
  notFound: 5,
  conflict: 6,
  payment: 7,
  paymentUnknown: 8,
  provider: 9,
  interrupted: 130
} as const

export type ExitCode = (typeof EXIT)[keyof typeof EXIT]

/** The exit codes in words, for help and reference. */
export const EXIT_MEANING: Readonly<Record<ExitCode, string>> = {
  0: "done",
  1: "failure",
  2: "cancelled",
  3: "wrong usage, or a request that the server found wrong",
  4: "authentication: no token, a wrong one, or not yours",
  5: "not found",
  6: "conflict",
  7: "payment declined, or over budget",
  8: "payment outcome unknown: do not pay again",
  9: "the provider failed or is not available",
  130: "interrupted"
}
