package reproduce

// all is in the order of the paper.
var all = []*Experiment{
	fcReferences, fcTable1, fcFig4, fcFig6, fcTable2, fcFig9, fcFig10, fcFig14, fcFig16, fcFig18, fcFig19, fcFig20, fcFig24, fcTable3,
	rdrpFig1, rdrpFig4, rdrpFig5, rdrpBounds,
	specFig3, specFig4, specFig414, specFig416, specFig417, specFig419,
	reuseFig5, reuseFig6, reuseFig7, reuseFig8, reuseFig9, reuseTable,
	adaptFig1, adaptFig2, adaptFig8, adaptFig9, adaptFig10,
}
