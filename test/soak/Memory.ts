/** The resident memory of a server. */
export interface MemorySample {
  /** Since the start of the load. */
  readonly minutes: number
  readonly bytes: number
}

/** The growth that a soak may show, in MB a minute over the last two thirds. */
export const GROWTH_MAX = 0.2

/** Returns the growth over the last two thirds in MB a minute: the slope of the line with the least squares. */
export const growthOf = (samples: ReadonlyArray<MemorySample>): number => {
  const last = samples.slice(Math.ceil(samples.length / 3))
  const mean = (values: ReadonlyArray<number>) => values.reduce((sum, value) => sum + value, 0) / values.length
  const minutes = mean(last.map((sample) => sample.minutes))
  const bytes = mean(last.map((sample) => sample.bytes))
  const covariance = mean(last.map((sample) => (sample.minutes - minutes) * (sample.bytes - bytes)))
  const variance = mean(last.map((sample) => (sample.minutes - minutes) ** 2))
  return variance === 0 ? 0 : covariance / variance / 1e6
}
