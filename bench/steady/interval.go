package steady

import "math"

// minMeans is the smallest number of batches from which Mean computes an interval.
const minMeans = 4

// student holds the 97.5 % quantiles of Student's t-distribution for 1, 2, … degrees of freedom.
var student = []float64{
	12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
	2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093,
}

// Interval returns the mean of independent values, and half of its 95 % interval.
func Interval(list []float64) (mean, within float64) {
	mean = average(list)
	n := len(list)
	if n < 2 {
		return mean, 0
	}
	sum := 0.0
	for _, v := range list {
		sum += (v - mean) * (v - mean)
	}
	t := 1.96
	if n-2 < len(student) {
		t = student[n-2]
	}
	return mean, t * math.Sqrt(sum/float64(n-1)/float64(n))
}

// Mean returns the mean of successive values of a steady series, and half of its 95 % interval from
// the smallest batches whose means are uncorrelated. Independent is false if even the largest
// batches are correlated; the interval is that of the largest ones then, and too narrow.
func Mean(values []float64) (mean, within float64, independent bool) {
	means := values
	for size := 1; ; size *= 2 {
		means = batches(values, size)
		if !correlated(means) {
			independent = true
			break
		}
		if len(values)/(2*size) < minMeans {
			break
		}
	}
	_, within = Interval(means)
	return average(values), within, independent
}

// correlated tests whether neighbouring values are positively correlated, by von Neumann's ratio of
// the mean square successive difference to the variance, at a significance of 5 %. For independent
// values the ratio is 2 with a variance of 4(n-2)/((n-1)(n+1)).
func correlated(values []float64) bool {
	n := float64(len(values))
	if n < 3 {
		return false
	}
	mean := average(values)
	var differences, squares float64
	for i, v := range values {
		squares += (v - mean) * (v - mean)
		if i > 0 {
			differences += (v - values[i-1]) * (v - values[i-1])
		}
	}
	if squares == 0 {
		return false
	}
	ratio := differences / squares // n/(n-1) times less than von Neumann's, whose expectation is 2n/(n-1)
	return ratio < 2-1.645*math.Sqrt(4*(n-2)/((n-1)*(n+1)))
}
