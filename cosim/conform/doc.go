// Package conform holds the systems to one behaviour: what software can see of the
// RTL and of its functional double (drivers/ideal) is the same, timing apart. It has
// tests only. A difference means that tests on the double prove nothing.
package conform
